package import JSON

/// One feature of a file, whatever the file's format.
package struct FenceFeature: Hashable, Sendable {
    /// From 1, in the order of the file.
    package let number: Int
    /// What the file calls it; nil when the file gives it no id.
    package var id: String?
    package var geometry: FeatureGeometry
    package var properties: [String: JSONValue]

    package init(number: Int, id: String? = nil, geometry: FeatureGeometry, properties: [String: JSONValue] = [:]) {
        self.number = number
        self.id = id
        self.geometry = geometry
        self.properties = properties
    }
}

/// A feature that cannot become a fence, and why. The other features of its file may.
package struct RefusedFeature: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1, in the order of the file.
    package let number: Int
    package let id: String?
    package let reason: String
    /// What the file says of it; nil when that could not be read.
    package var properties: [String: JSONValue]?
    /// Which file, when several are read as one.
    package var file: String?

    package init(number: Int, id: String? = nil, reason: String, properties: [String: JSONValue]? = nil) {
        self.number = number
        self.id = id
        self.reason = reason
        self.properties = properties
    }

    package var description: String {
        "\(file.map { "\($0), " } ?? "")feature \(number)\(id.map { " (\(FenceFileError.quoted($0)))" } ?? ""): \(reason)"
    }
}

/// What a file gives at a time.
package enum FileFeature: Hashable, Sendable {
    case feature(FenceFeature)
    case refused(RefusedFeature)
}

/// The features of a file, one after the other.
package protocol FeatureReader {
    /// Nil after the last.
    ///
    /// - Throws: ``FenceFileError`` for what is wrong with the whole of the file.
    mutating func next() throws(FenceFileError) -> FileFeature?
}
