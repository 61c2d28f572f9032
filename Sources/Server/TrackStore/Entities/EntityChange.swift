/// What to change of an entity. A part that is not given stays as it is.
package struct EntityChange: Hashable, Sendable {
    package var name: String
    /// Nil: stays.
    package var description: String?
    /// By entity column; those that the service does not have are ignored.
    package var values: [String: String]

    package init(name: String, description: String? = nil, values: [String: String] = [:]) {
        self.name = name
        self.description = description
        self.values = values
    }
}
