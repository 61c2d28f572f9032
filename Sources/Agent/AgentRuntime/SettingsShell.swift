internal import AgentControl
internal import AgentLogic
internal import JSON

/// The settings in force: what people have set, or the configuration's defaults.
///
/// Owns the settings. May touch nothing. Every setting that becomes another leaves as an ``Effect``.
final class SettingsShell {
    enum Effect {
        /// Make the settings outlive a restart; nil: nobody has set anything.
        case remember(Settings?)
        case keepAlive(Bool)
        /// Seconds.
        case gatherInterval(Int)
        case location(LocationOptions)
        /// Seconds. Told at each change, whatever it changes.
        case intervals(gather: Int, pack: Int)
        /// Bytes; nil for unlimited.
        case cacheLimit(Int?)
    }

    private let tell: (Effect) -> Void
    private(set) var inForce: Settings
    /// Whether a person has set them: then they go before a configuration that is reloaded.
    private var areSet: Bool

    init(_ settings: Settings, areSet: Bool, tell: @escaping (Effect) -> Void) {
        inForce = settings
        self.areSet = areSet
        self.tell = tell
    }

    // MARK: Calls of the control socket

    func setIntervals(gather: Int64, pack: Int64) throws(AgentControlError) {
        try change(in: .setIntervals) { (settings) throws(SettingsError) in
            try settings.setIntervals(gather: gather, pack: pack)
        }
    }

    func setCacheLimit(_ limit: CacheLimit) throws(AgentControlError) {
        try change(in: .setCacheLimit) { (settings) throws(SettingsError) in
            switch limit {
            case .bytes(let bytes): try settings.setCacheLimit(bytes)
            case .unlimited: try settings.setCacheLimit(nil)
            }
        }
    }

    func setLocationOptions(_ wanted: LocationOptionsChange) throws(AgentControlError) {
        try change(in: .setLocationOptions) { (settings) throws(SettingsError) in
            try settings.change { $0.apply(wanted) }
        }
    }

    /// Nobody has set anything any more.
    func reset(to defaults: Settings) {
        areSet = false
        tell(.remember(nil))
        adopt(defaults)
    }

    private func change(
        in method: AgentMethod, _ make: (inout Settings) throws(SettingsError) -> Void
    ) throws(AgentControlError) {
        var changed = inForce
        do {
            try make(&changed)
        } catch {
            throw AgentControlError(.parameterError, in: method, reason: error.detail, parameter: error.key.rawValue)
        }
        areSet = true
        tell(.remember(changed))
        adopt(changed)
    }

    // MARK: Configuration

    func keepAliveReloaded(_ keepAlive: Bool) {
        var settings = inForce
        settings.keepAlive = keepAlive
        adopt(settings)
    }

    /// A limit that a person has set goes before the configuration's.
    func cacheLimitReloaded(_ limit: Int?) {
        guard !areSet else { return }
        var settings = inForce
        try? settings.setCacheLimit(limit.map(Int64.init))
        adopt(settings)
    }

    private func adopt(_ new: Settings) {
        let old = inForce
        inForce = new
        if new.keepAlive != old.keepAlive { tell(.keepAlive(new.keepAlive)) }
        if new.gatherInterval != old.gatherInterval { tell(.gatherInterval(new.gatherInterval)) }
        if new.location != old.location { tell(.location(new.location)) }
        tell(.intervals(gather: new.gatherInterval, pack: new.packInterval))
        if new.cacheLimit != old.cacheLimit { tell(.cacheLimit(new.cacheLimit)) }
    }

    // MARK: Status

    var status: AgentSettings { AgentSettings(inForce) }
}

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

extension Settings {
    /// The settings that are in force while nobody has set any.
    init(defaultsOf configuration: AgentConfiguration) {
        self.init()
        keepAlive = configuration.gnss.isKeptOpen
        // The configuration has checked its limit by the same rule.
        try? setCacheLimit(configuration.cache.limit.map(Int64.init))
        try? change {
            $0.parkingDelay = configuration.parking.delay.map(Int64.init)
            $0.parkingInterval = Int64(configuration.parking.interval)
        }
    }
}
