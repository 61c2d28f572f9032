/// The settings that outlive a restart. They are always valid: each setter checks its rule and changes nothing when the
/// rule is broken.
package struct Settings: Hashable, Sendable {
    /// Seconds from one track point to the next, ``intervals``.
    package private(set) var gatherInterval = 5
    /// Seconds from one upload to the next, ``intervals``, a whole multiple of `gatherInterval`.
    package private(set) var packInterval = 30
    /// Bytes of the track cache on disk, at least ``minimumCacheLimit``; nil for unlimited.
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
