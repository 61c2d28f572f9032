package struct NewEntity: Hashable, Sendable {
    /// Must satisfy ``EntityName``; the caller has checked.
    package var name: String
    /// At most 128 bytes of UTF-8; empty means none.
    package var description: String
    /// By entity column; those that the service does not have are ignored.
    package var values: [String: String]

    package init(name: String, description: String = "", values: [String: String] = [:]) {
        self.name = name
        self.description = description
        self.values = values
    }
}
