/// Where an imported fence came from: a second import of the same file and layer finds it by its feature.
package struct FenceOrigin: Hashable, Sendable {
    /// The name that the file was imported under.
    package let file: String
    /// Of a file with several layers.
    package let layer: String?
    /// The feature's id, as text.
    package let feature: String
    /// The feature's attributes, a JSON object.
    package let attributes: String

    /// Bytes of a name or an id, and of the attributes.
    package static let mostNameBytes = 1024
    package static let mostBytes = 64 * 1024

    /// - Throws: ``FenceError`` for a text that is too long, or empty.
    package init(file: String, layer: String? = nil, feature: String, attributes: String) throws(FenceError) {
        try FenceError.checkText(file, "the file's name", .origin, most: Self.mostNameBytes)
        if let layer { try FenceError.checkText(layer, "the layer's name", .origin, most: Self.mostNameBytes) }
        try FenceError.checkText(feature, "the feature's id", .origin, most: Self.mostNameBytes)
        try FenceError.checkText(attributes, "the list of the feature's attributes", .origin, most: Self.mostBytes)
        self.file = file
        self.layer = layer
        self.feature = feature
        self.attributes = attributes
    }
}
