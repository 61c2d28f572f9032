internal import Geofencing
internal import JSON

/// Parameters with places for a feature's attributes: `{column}` in a text. `{{` stands for a brace.
enum ParameterTemplate {
    /// A text that is nothing but one place becomes the attribute itself, be it a number or a list.
    static func filled(
        _ reaction: FenceReaction, from attributes: [String: JSONValue]
    ) throws(FenceFileError) -> FenceReaction {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(of: Array(reaction.parameters.utf8))
        } catch {
            throw FenceFileError("the params on \(reaction.on.rawValue) are \(error)")
        }
        let parameters = try filled(value, from: attributes).description
        do throws(FenceError) {
            return try FenceReaction(on: reaction.on, parameters: parameters, isRemote: reaction.isRemote)
        } catch {
            throw FenceFileError(error.description)
        }
    }

    private static func filled(
        _ value: JSONValue, from attributes: [String: JSONValue]
    ) throws(FenceFileError) -> JSONValue {
        switch value {
        case .string(let text): return try filled(text, from: attributes)
        case .array(let elements):
            var filled: [JSONValue] = []
            for element in elements { filled.append(try Self.filled(element, from: attributes)) }
            return .array(filled)
        case .object(let members):
            var filled: [String: JSONValue] = [:]
            for (name, member) in members { filled[name] = try Self.filled(member, from: attributes) }
            return .object(filled)
        case .null, .bool, .integer, .double: return value
        }
    }

    private static func filled(
        _ text: String, from attributes: [String: JSONValue]
    ) throws(FenceFileError) -> JSONValue {
        var (result, rest, single) = ("", text[...], JSONValue?.none)
        while let brace = rest.firstIndex(of: "{") {
            result += rest[..<brace]
            rest = rest[rest.index(after: brace)...]
            if rest.first == "{" {
                result += "{"
                rest = rest.dropFirst()
                continue
            }
            guard let end = rest.firstIndex(of: "}") else {
                throw FenceFileError(
                    "\(FenceFileError.quoted(text)) in the params has '{' without '}': write {{ for a brace")
            }
            let column = String(rest[..<end])
            let name = try WhereClause.name(of: column, among: attributes)
            let value = name.flatMap { attributes[$0] } ?? .null
            rest = rest[rest.index(after: end)...]
            if result.isEmpty, rest.isEmpty, text.hasPrefix("{\(column)") { single = value }
            if value != .null { result += value.stringValue ?? value.description }
        }
        if let single { return single }
        return .string(result + rest)
    }
}
