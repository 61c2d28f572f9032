internal import AgentControl
internal import AgentLogic
internal import JSON
internal import TrackModel
internal import TrackWire

extension AttributeColumn {
    /// Nil for a type that this program does not know.
    init?(_ told: TrackColumn) {
        let type: AttributeType
        switch told.type {
        case .integer: type = .integer
        case .double: type = .double
        case .string: type = .string
        case .unspecified, .UNRECOGNIZED: return nil
        }
        guard AttributeValue.problem(key: told.key, value: .integer(0)) == nil else { return nil }
        self.init(key: told.key, type: type)
    }
}

extension IgnoredValue {
    init(_ ignored: IgnoredAttribute) {
        self.init(key: ignored.key, reason: ignored.reason.rawValue, detail: ignored.detail)
    }
}

extension JSONValue {
    init(_ value: AttributeValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .string(text)
        }
    }
}
