import JSON
import Varlink

/// The parameters of one call, read by name and type. A parameter that nobody reads makes the call fail.
///
/// Missing, unknown and mistyped parameters are the protocol's `InvalidParameter`. `null` is the same as absent.
struct CallParameters {
    private let given: [String: JSONValue]
    private var unread: Set<String>

    init(_ parameters: [String: JSONValue]) {
        given = parameters.filter { $0.value != .null }
        unread = Set(parameters.keys)
    }

    private mutating func take<Value>(
        _ name: String, _ read: (JSONValue) -> Value?
    ) throws(VarlinkError) -> Value? {
        unread.remove(name)
        guard let value = given[name] else { return nil }
        guard let typed = read(value) else { throw .invalidParameter(name) }
        return typed
    }

    mutating func string(_ name: String) throws(VarlinkError) -> String? {
        try take(name, \.stringValue)
    }

    mutating func integer(_ name: String) throws(VarlinkError) -> Int64? {
        try take(name, \.integerValue)
    }

    mutating func requiredInteger(_ name: String) throws(VarlinkError) -> Int64 {
        guard let value = try integer(name) else { throw .invalidParameter(name) }
        return value
    }

    mutating func number(_ name: String) throws(VarlinkError) -> Double? {
        try take(name, \.doubleValue)
    }

    mutating func bool(_ name: String) throws(VarlinkError) -> Bool? {
        try take(name, \.boolValue)
    }

    mutating func strings(_ name: String) throws(VarlinkError) -> [String]? {
        try take(name) { value in
            guard let elements = value.arrayValue else { return nil }
            let strings = elements.compactMap(\.stringValue)
            return strings.count == elements.count ? strings : nil
        }
    }

    mutating func integers(_ name: String) throws(VarlinkError) -> [Int64]? {
        try take(name) { value in
            guard let elements = value.arrayValue else { return nil }
            let integers = elements.compactMap(\.integerValue)
            return integers.count == elements.count ? integers : nil
        }
    }

    mutating func requiredArray(_ name: String) throws(VarlinkError) -> [JSONValue] {
        guard let value = try take(name, \.arrayValue) else { throw .invalidParameter(name) }
        return value
    }

    mutating func requiredString(_ name: String) throws(VarlinkError) -> String {
        guard let value = try string(name) else { throw .invalidParameter(name) }
        return value
    }

    mutating func dictionary(_ name: String) throws(VarlinkError) -> [String: String]? {
        try take(name) { value in
            guard let members = value.objectValue else { return nil }
            let strings = members.compactMapValues(\.stringValue)
            return strings.count == members.count ? strings : nil
        }
    }

    mutating func object(_ name: String) throws(VarlinkError) -> [String: JSONValue]? {
        try take(name, \.objectValue)
    }

    mutating func requiredObject(_ name: String) throws(VarlinkError) -> [String: JSONValue] {
        guard let value = try object(name) else { throw .invalidParameter(name) }
        return value
    }

    /// A value as it came, of which `isRight` holds.
    mutating func value(_ name: String, where isRight: (JSONValue) -> Bool) throws(VarlinkError) -> JSONValue? {
        try take(name) { isRight($0) ? $0 : nil }
    }

    /// Call it after the last parameter: it throws when one was not read.
    func finish() throws(VarlinkError) {
        if let unknown = unread.min() { throw .invalidParameter(unknown) }
    }
}
