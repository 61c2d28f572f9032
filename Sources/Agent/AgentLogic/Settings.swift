/// The settings that outlive a restart. They are always valid: each setter checks its rule and changes nothing when the
/// rule is broken.
package struct Settings: Hashable, Sendable {
    /// Seconds from one track point to the next, ``intervals``.
    package private(set) var gatherInterval = 5
    /// Seconds from one upload to the next, ``intervals``, a whole multiple of `gatherInterval`.
    package private(set) var packInterval = 30
    /// Bytes of the disk ring on disk, at least ``minimumCacheLimit``; nil for unlimited.
    package private(set) var cacheLimit: Int? = 256 << 20
    package private(set) var location = LocationOptions()
    /// Seconds between points while parked, kept also while ``LocationOptions/parking`` is off.
    package private(set) var parkingInterval = ParkingOptions.defaultInterval
    /// Whether the gpsd watch stays open while the service runs without gathering, so that the next start has a fix at once.
    package var keepAlive = false

    /// Seconds, for both intervals.
    package static let intervals = 2...300
    /// Bytes: two segments of the ring.
    package static let minimumCacheLimit = 2 << 20

    /// The defaults.
    package init() {}

    /// Both at once, because each is judged with the other.
    package mutating func setIntervals(gather: Int64, pack: Int64) throws(SettingsError) {
        let gather = try Self.checkedInterval(gather, .gatherInterval)
        let pack = try Self.checkedInterval(pack, .packInterval)
        guard pack.isMultiple(of: gather) else {
            throw SettingsError(
                .packInterval,
                "a pack interval of \(pack) s is no whole multiple of the gather interval of \(gather) s: "
                    + "use \(Self.multiple(of: gather, near: pack)) s, or another gather interval")
        }
        gatherInterval = gather
        packInterval = pack
    }

    /// Bytes; nil for unlimited.
    package mutating func setCacheLimit(_ bytes: Int64?) throws(SettingsError) {
        guard let bytes else {
            cacheLimit = nil
            return
        }
        guard bytes >= Int64(Self.minimumCacheLimit), let limit = Int(exactly: bytes) else {
            throw SettingsError(
                .cacheLimit,
                "a cache limit of \(bytes) bytes is under the minimum of \(Self.minimumCacheLimit) bytes (2 MiB): "
                    + "use at least that, or no limit")
        }
        cacheLimit = limit
    }

    package mutating func setLocation(_ options: LocationOptions) throws(SettingsError) {
        try options.check()
        if let parking = options.parking { parkingInterval = parking.interval }
        location = options
    }

    /// Seconds, ``ParkingOptions/intervals``.
    package mutating func setParkingInterval(_ seconds: Int64) throws(SettingsError) {
        let interval = Int(clamping: seconds)
        try SettingsError.check(interval, .parkingInterval, "parking interval", ParkingOptions.intervals)
        parkingInterval = interval
        location.parking?.interval = interval
    }

    private static func checkedInterval(_ seconds: Int64, _ key: SettingKey) throws(SettingsError) -> Int {
        guard let value = Int(exactly: seconds), intervals.contains(value) else {
            let name = key == .gatherInterval ? "gather" : "pack"
            throw SettingsError(
                key,
                "a \(name) interval of \(seconds) s is outside \(intervals.lowerBound) to \(intervals.upperBound) s: "
                    + "use a whole number of seconds within")
        }
        return value
    }

    private static func multiple(of gather: Int, near pack: Int) -> Int {
        let above = (pack / gather + 1) * gather
        return above <= intervals.upperBound ? above : pack / gather * gather
    }
}

/// A setting broke its rule. Equality is by key.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which setting.
    package let key: SettingKey
    /// The value, the rule and what to do.
    package let detail: String

    package init(_ key: SettingKey, _ detail: String) {
        self.key = key
        self.detail = detail
    }

    package var description: String { detail }

    package static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

// Rules that several settings have.
extension SettingsError {
    /// Metres; nil for off.
    static func check(
        _ metres: Double?, _ key: SettingKey, _ name: String, _ range: ClosedRange<Double>
    ) throws(SettingsError) {
        guard let metres, !range.contains(metres) else { return }
        throw SettingsError(
            key,
            "a \(name) of \(metres) m is outside \(range.lowerBound) to \(range.upperBound) m: "
                + "use a number of metres within, or turn it off")
    }

    /// Seconds.
    static func check(
        _ seconds: Int, _ key: SettingKey, _ name: String, _ range: ClosedRange<Int>, _ hint: String = ""
    ) throws(SettingsError) {
        guard !range.contains(seconds) else { return }
        throw SettingsError(
            key,
            "a \(name) of \(seconds) s is outside \(range.lowerBound) to \(range.upperBound) s: "
                + "use a whole number of seconds within\(hint)")
    }
}

/// The settings as plain values, not yet checked: what a state file holds or a caller sends.
///
/// This file is the one place that lists the settings. The state file, the control interface and its status go through
/// ``subscript(_:)`` and name no setting.
package struct SettingsRecord: Hashable, Sendable {
    /// Seconds.
    package var gatherInterval: Int64
    package var packInterval: Int64
    /// Bytes; nil for unlimited.
    package var cacheLimit: Int64?
    /// Metres; nil for off.
    package var desiredAccuracy: Double?
    package var distanceFilter: Double?
    /// A raw value of ``TravelActivity``.
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
    /// Throws what ``Settings`` says of the first value that breaks its rule.
    package init(_ record: SettingsRecord) throws(SettingsError) {
        self.init()
        try setIntervals(gather: record.gatherInterval, pack: record.packInterval)
        try setCacheLimit(record.cacheLimit)
        try setParkingInterval(record.parkingInterval)
        try setLocation(
            LocationOptions(
                desiredAccuracy: record.desiredAccuracy, distanceFilter: record.distanceFilter,
                activity: try TravelActivity(named: record.activity),
                parking: record.parkingDelay.map {
                    ParkingOptions(delay: Int(clamping: $0), interval: parkingInterval)
                }))
        keepAlive = record.keepAlive
    }

    /// Makes all changes of `edit`, or none when the settings break a rule afterwards.
    package mutating func change(_ edit: (inout SettingsRecord) -> Void) throws(SettingsError) {
        var record = SettingsRecord(self)
        edit(&record)
        self = try Settings(record)
    }
}

/// The names of the settings, on the control interface and, in camel case, in the state file.
package enum SettingKey: String, Hashable, Sendable, CaseIterable {
    case gatherInterval = "gather_interval"
    case packInterval = "pack_interval"
    case cacheLimit = "cache_limit"
    case desiredAccuracy = "desired_accuracy"
    case distanceFilter = "distance_filter"
    case activity
    case keepAlive = "keep_alive"
    case parkingDelay = "parking_delay"
    case parkingInterval = "parking_interval"

    fileprivate var field: SettingField {
        switch self {
        case .gatherInterval: .integer(\.gatherInterval)
        case .packInterval: .integer(\.packInterval)
        case .cacheLimit: .optionalInteger(\.cacheLimit)
        case .desiredAccuracy: .optionalNumber(\.desiredAccuracy)
        case .distanceFilter: .optionalNumber(\.distanceFilter)
        case .activity: .text(\.activity)
        case .keepAlive: .flag(\.keepAlive)
        case .parkingDelay: .optionalInteger(\.parkingDelay)
        case .parkingInterval: .integer(\.parkingInterval)
        }
    }
}

extension SettingsRecord {
    /// Nil: off, or unlimited. What is set must be of the setting's type, see ``SettingKey/kind``; a setting that
    /// cannot be off ignores nil.
    package subscript(key: SettingKey) -> SettingValue? {
        get {
            switch key.field {
            case .integer(let path): .integer(self[keyPath: path])
            case .optionalInteger(let path): self[keyPath: path].map(SettingValue.integer)
            case .optionalNumber(let path): self[keyPath: path].map(SettingValue.number)
            case .text(let path): .text(self[keyPath: path])
            case .flag(let path): .flag(self[keyPath: path])
            }
        }
        set {
            switch (key.field, newValue) {
            case (.integer(let path), .integer(let value)): self[keyPath: path] = value
            case (.optionalInteger(let path), .integer(let value)): self[keyPath: path] = value
            case (.optionalInteger(let path), nil): self[keyPath: path] = nil
            case (.optionalNumber(let path), .number(let value)): self[keyPath: path] = value
            case (.optionalNumber(let path), nil): self[keyPath: path] = nil
            case (.text(let path), .text(let value)): self[keyPath: path] = value
            case (.flag(let path), .flag(let value)): self[keyPath: path] = value
            case (.integer, _), (.optionalInteger, _), (.optionalNumber, _), (.text, _), (.flag, _): break
            }
        }
    }
}

extension SettingKey {
    /// What a reader of values has to look for.
    package enum Kind: Hashable, Sendable {
        case integer, number, text, flag
    }

    package var kind: Kind {
        switch field {
        case .integer, .optionalInteger: .integer
        case .optionalNumber: .number
        case .text: .text
        case .flag: .flag
        }
    }

    /// Whether a setting can be off, or unlimited: then it has no value.
    package var canBeOff: Bool {
        switch field {
        case .optionalInteger, .optionalNumber: true
        case .integer, .text, .flag: false
        }
    }
}

/// The value of one setting.
package enum SettingValue: Hashable, Sendable {
    case integer(Int64)
    case number(Double)
    case text(String)
    case flag(Bool)
}

/// Where a setting is in the record, and of which type.
private enum SettingField {
    case integer(WritableKeyPath<SettingsRecord, Int64>)
    case optionalInteger(WritableKeyPath<SettingsRecord, Int64?>)
    case optionalNumber(WritableKeyPath<SettingsRecord, Double?>)
    case text(WritableKeyPath<SettingsRecord, String>)
    case flag(WritableKeyPath<SettingsRecord, Bool>)
}
