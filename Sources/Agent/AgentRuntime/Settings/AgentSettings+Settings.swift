internal import AgentControl
internal import AgentLogic
internal import JSON

// The settings of AgentLogic and those of the control interface have the same keys. Nothing here names a setting.
extension AgentSettings {
    /// Every setting that the control interface has.
    init(_ settings: Settings) {
        let record = SettingsRecord(settings)
        var values: [String: JSONValue] = [:]
        for setting in AgentSetting.all {
            values[setting.key] = SettingKey(rawValue: setting.key).flatMap { record[$0] }.map(JSONValue.init)
        }
        self.init(values)
    }
}

extension SettingsRecord {
    /// The values have the types of the settings; 0 turns off what can be off.
    mutating func apply(_ change: LocationOptionsChange) {
        for (name, value) in change.values {
            guard let key = SettingKey(rawValue: name) else { continue }
            self[key] = key.canBeOff && Self.isNone(value, of: key) ? nil : SettingValue(value, of: key)
        }
    }
}

extension SettingsRecord {
    /// 0 turns a setting off. Of the two that mobile SDKs have, -1 is their value for "none".
    fileprivate static func isNone(_ value: JSONValue, of key: SettingKey) -> Bool {
        value.doubleValue == 0 || (key == .desiredAccuracy || key == .distanceFilter) && value.doubleValue == -1
    }
}

extension SettingValue {
    fileprivate init?(_ value: JSONValue, of key: SettingKey) {
        let typed: SettingValue? =
            switch key.kind {
            case .integer: value.integerValue.map(SettingValue.integer)
            case .number: value.doubleValue.map(SettingValue.number)
            case .text: value.stringValue.map(SettingValue.text)
            case .flag: value.boolValue.map(SettingValue.flag)
            }
        guard let typed else { return nil }
        self = typed
    }
}

extension JSONValue {
    fileprivate init(_ value: SettingValue) {
        switch value {
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .double(value)
        case .text(let value): self = .string(value)
        case .flag(let value): self = .bool(value)
        }
    }
}
