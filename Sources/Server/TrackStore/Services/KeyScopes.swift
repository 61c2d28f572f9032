/// What an access key may be used for.
package struct KeyScopes: OptionSet, Hashable, Sendable {
    /// As the store keeps it.
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Calls of the Web API that only read.
    package static let read = KeyScopes(rawValue: 1)
    /// Calls of the Web API that change something.
    package static let write = KeyScopes(rawValue: 2)
    /// What `read` and `write` open, and the calls that administer a service. Version 3 of the API has no such call.
    package static let admin = KeyScopes(rawValue: 4)
    /// Logins of vehicles that have no certificate of their own, under any name.
    package static let legacyDevice = KeyScopes(rawValue: 8)

    /// What every key could do before keys had scopes.
    package static let former: KeyScopes = [.read, .write, .legacyDevice]

    private static let names: [(name: String, scope: KeyScopes)] = [
        ("read", .read), ("write", .write), ("admin", .admin), ("legacy-device", .legacyDevice),
    ]

    /// Nil for a name that no scope has.
    package init?(name: String) {
        guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
        self = known.scope
    }

    /// Such as `read,write`.
    package var text: String {
        Self.names.filter { contains($0.scope) }.map(\.name).joined(separator: ",")
    }

    /// Whether a key with these scopes opens what wants `scope`.
    package func opens(_ scope: KeyScopes) -> Bool {
        let implied: KeyScopes = contains(.admin) ? [.read, .write] : []
        return union(implied).isSuperset(of: scope)
    }
}
