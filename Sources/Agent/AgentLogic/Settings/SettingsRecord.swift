/// The settings as plain fields, not yet checked: what a state file holds or a caller sends.
package struct SettingsRecord: Hashable, Sendable {
    /// Seconds.
    package var gatherInterval: Int64
    package var packInterval: Int64
    /// Bytes; nil for unlimited.
    package var cacheLimit: Int64?
    /// Metres; nil for off.
    package var desiredAccuracy: Double?
    package var distanceFilter: Double?
    /// A raw value of ``Activity``.
    package var activity: String
    package var keepAlive: Bool
    /// Seconds; nil for off.
    package var parkingDelay: Int64?
    /// Seconds.
    package var parkingInterval: Int64

    /// As a plain record; `Settings(record)` gives the same settings back.
    package init(_ settings: Settings) {
        gatherInterval = Int64(settings.gatherInterval)
        packInterval = Int64(settings.packInterval)
        cacheLimit = settings.cacheLimit.map(Int64.init)
        desiredAccuracy = settings.location.desiredAccuracy
        distanceFilter = settings.location.distanceFilter
        activity = settings.location.activity.rawValue
        keepAlive = settings.keepAlive
        parkingDelay = settings.location.parking.map { Int64($0.delay) }
        parkingInterval = Int64(settings.parkingInterval)
    }
}

extension Settings {
    /// Throws what ``Settings`` says of the first field that breaks its rule.
    package init(_ record: SettingsRecord) throws(SettingsError) {
        self.init()
        try apply(SettingsPatch(record))
    }

    /// Makes all changes, or none when one of them breaks a rule.
    package mutating func apply(_ patch: SettingsPatch) throws(SettingsError) {
        var changed = self
        if patch.gatherInterval != nil || patch.packInterval != nil {
            try changed.setIntervals(
                gather: patch.gatherInterval ?? Int64(gatherInterval),
                pack: patch.packInterval ?? Int64(packInterval))
        }
        if case .set(let limit) = patch.cacheLimit { try changed.setCacheLimit(limit) }
        var options = location
        if case .set(let accuracy) = patch.desiredAccuracy { options.desiredAccuracy = accuracy }
        if case .set(let distance) = patch.distanceFilter { options.distanceFilter = distance }
        if let name = patch.activity {
            guard let activity = Activity(rawValue: name) else {
                let names = Activity.allCases.map(\.rawValue).joined(separator: ", ")
                throw SettingsError(.activity, "there is no activity \"\(name)\": use one of \(names)")
            }
            options.activity = activity
        }
        if let interval = patch.parkingInterval { try changed.setParkingInterval(interval) }
        var delay = options.parking.map { Int64($0.delay) }
        if case .set(let wanted) = patch.parkingDelay { delay = wanted }
        options.parking = delay.map { ParkingOptions(delay: Int(clamping: $0), interval: changed.parkingInterval) }
        try changed.setLocation(options)
        if let keepAlive = patch.keepAlive { changed.keepAlive = keepAlive }
        self = changed
    }
}

/// What to change of the settings; nothing named stays as it is.
package struct SettingsPatch: Hashable, Sendable {
    /// A change of a value that can be absent.
    package enum Change<Value: Hashable & Sendable>: Hashable, Sendable {
        case keep
        /// Nil: unlimited, or off.
        case set(Value?)
    }

    /// Seconds.
    package var gatherInterval: Int64?
    package var packInterval: Int64?
    /// Bytes.
    package var cacheLimit = Change<Int64>.keep
    /// Metres.
    package var desiredAccuracy = Change<Double>.keep
    package var distanceFilter = Change<Double>.keep
    /// A raw value of ``Activity``.
    package var activity: String?
    package var keepAlive: Bool?
    /// Seconds.
    package var parkingDelay = Change<Int64>.keep
    package var parkingInterval: Int64?

    package init() {}

    /// Everything, as in the record.
    package init(_ record: SettingsRecord) {
        gatherInterval = record.gatherInterval
        packInterval = record.packInterval
        cacheLimit = .set(record.cacheLimit)
        desiredAccuracy = .set(record.desiredAccuracy)
        distanceFilter = .set(record.distanceFilter)
        activity = record.activity
        keepAlive = record.keepAlive
        parkingDelay = .set(record.parkingDelay)
        parkingInterval = record.parkingInterval
    }
}
