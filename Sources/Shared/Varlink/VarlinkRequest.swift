import JSON

/// A call as it came in, its members checked for type.
struct VarlinkRequest: Hashable {
    /// With the interface's name.
    let method: String
    let parameters: [String: JSONValue]
    let more: Bool
    let oneway: Bool

    /// Throws `InvalidParameter` with the name of the member that is missing or of the wrong type. Members this version
    /// of the protocol does not know are ignored, as the protocol wants it.
    init(_ message: JSONValue) throws(VarlinkError) {
        guard case .object(let members) = message else { throw .invalidParameter("method") }
        guard let method = members["method"]?.stringValue else { throw .invalidParameter("method") }
        self.method = method
        switch members["parameters"] {
        case nil, .null: parameters = [:]
        case .object(let given): parameters = given
        default: throw .invalidParameter("parameters")
        }
        more = try Self.flag("more", in: members)
        oneway = try Self.flag("oneway", in: members)
        // A connection is never handed to another protocol here.
        if try Self.flag("upgrade", in: members) { throw .invalidParameter("upgrade") }
    }

    private static func flag(_ name: String, in members: [String: JSONValue]) throws(VarlinkError) -> Bool {
        switch members[name] {
        case nil, .null: return false
        case .bool(let value): return value
        default: throw .invalidParameter(name)
        }
    }
}
