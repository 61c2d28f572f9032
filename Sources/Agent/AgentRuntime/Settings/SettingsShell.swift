internal import AgentControl
internal import AgentLogic

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
