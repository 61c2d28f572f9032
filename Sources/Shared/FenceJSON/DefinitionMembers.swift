internal import JSON

/// The members of a JSON object, taken out one by one; what nobody takes is unknown.
struct DefinitionMembers {
    /// How a person names the object: `fence`, `fence.stay`.
    let path: String
    private let members: [String: JSONValue]
    private var taken: Set<String> = []

    init(_ value: JSONValue, _ path: String) throws(FenceJSONError) {
        guard let members = value.objectValue else {
            throw FenceJSONError("\(path) is \(value.kind), and an object is needed")
        }
        self.path = path
        self.members = members
    }

    func error(_ name: String, _ value: JSONValue, needs: String) -> FenceJSONError {
        FenceJSONError("\(path).\(name) is \(FenceJSONError.quoted(value.description)), and \(needs) is needed")
    }

    /// Nil when the member is missing or null.
    mutating func value(_ name: String) -> JSONValue? {
        taken.insert(name)
        guard let value = members[name], value != .null else { return nil }
        return value
    }

    mutating func need(_ name: String) throws(FenceJSONError) -> JSONValue {
        guard let value = value(name) else { throw FenceJSONError("\(path).\(name) is missing") }
        return value
    }

    mutating func text(_ name: String) throws(FenceJSONError) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.stringValue else { throw error(name, value, needs: "a text") }
        return text
    }

    mutating func flag(_ name: String) throws(FenceJSONError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let flag = value.boolValue else { throw error(name, value, needs: "true or false") }
        return flag
    }

    mutating func number(_ name: String) throws(FenceJSONError) -> Double? {
        guard let value = value(name) else { return nil }
        guard let number = value.doubleValue else { throw error(name, value, needs: "a number") }
        return number
    }

    mutating func integer(_ name: String) throws(FenceJSONError) -> Int64? {
        guard let value = value(name) else { return nil }
        if let whole = value.integerValue { return whole }
        // Some writers put a point behind every number.
        guard let number = value.doubleValue, let whole = Int64(exactly: number) else {
            throw error(name, value, needs: "a whole number")
        }
        return whole
    }

    /// A number in steps of 1 / `scale`, as a whole number of steps in 32 bits.
    mutating func steps(_ name: String, scale: Double) throws(FenceJSONError) -> Int32? {
        guard let number = try number(name) else { return nil }
        guard let steps = Int32(exactly: (number * scale).rounded()) else {
            throw error(name, .double(number), needs: "a number of a sensible size")
        }
        return steps
    }

    mutating func list(_ name: String) throws(FenceJSONError) -> [JSONValue]? {
        guard let value = value(name) else { return nil }
        guard let list = value.arrayValue else { throw error(name, value, needs: "an array") }
        return list
    }

    mutating func object(_ name: String) throws(FenceJSONError) -> DefinitionMembers? {
        guard let value = value(name) else { return nil }
        return try DefinitionMembers(value, "\(path).\(name)")
    }

    /// Refuses what nobody has taken.
    func end() throws(FenceJSONError) {
        guard let unknown = members.keys.filter({ !taken.contains($0) }).min() else { return }
        throw FenceJSONError(
            "\(path).\(FenceJSONError.quoted(unknown)) is unknown here: \(path) has \(taken.sorted().joined(separator: ", "))"
        )
    }
}

/// What is wrong with a fence that came as JSON. It names the member, the value and what it needs.
package struct FenceJSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// A text from outside, short enough for a message.
    package static func quoted(_ text: some StringProtocol) -> String {
        text.utf8.count <= 80 ? "'\(text)'" : "'\(text.unicodeScalars.prefix(40).map(String.init).joined())…'"
    }
}
