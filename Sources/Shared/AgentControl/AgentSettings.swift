/// The settings that outlive a restart of the agent.
package struct AgentSettings: Codable, Hashable, Sendable {
    /// Seconds, 2 ... 300.
    package var gatherInterval: Int64
    /// Seconds, 2 ... 300, a whole multiple of `gatherInterval`.
    package var packInterval: Int64
    /// Bytes on disk; nil for unlimited.
    package var cacheLimit: Int64?
    /// Metres: fixes with a larger estimated error make no point; nil for off.
    package var desiredAccuracy: Double?
    /// Metres: fixes that moved less make no point; nil for off.
    package var distanceFilter: Double?
    package var activity: Activity
    /// Seconds without movement after which few points are made; nil for off.
    package var parkingDelay: Int64?
    /// Seconds from one point to the next while parked; nil from an agent that knows no parking.
    package var parkingInterval: Int64?

    package init(
        gatherInterval: Int64, packInterval: Int64, cacheLimit: Int64?, desiredAccuracy: Double? = nil,
        distanceFilter: Double? = nil, activity: Activity, parkingDelay: Int64? = nil, parkingInterval: Int64? = nil
    ) {
        self.gatherInterval = gatherInterval
        self.packInterval = packInterval
        self.cacheLimit = cacheLimit
        self.desiredAccuracy = desiredAccuracy
        self.distanceFilter = distanceFilter
        self.activity = activity
        self.parkingDelay = parkingDelay
        self.parkingInterval = parkingInterval
    }

    enum CodingKeys: String, CodingKey {
        case activity
        case gatherInterval = "gather_interval"
        case packInterval = "pack_interval"
        case cacheLimit = "cache_limit"
        case desiredAccuracy = "desired_accuracy"
        case distanceFilter = "distance_filter"
        case parkingDelay = "parking_delay"
        case parkingInterval = "parking_interval"
    }
}

/// What carries the box: decides which speeds are plausible.
package enum Activity: String, Codable, Hashable, Sendable, CaseIterable {
    case other, automotive, fitness, airborne
}

/// What `SetCacheLimit` asks for.
package enum CacheLimit: Hashable, Sendable {
    case bytes(Int64)
    case unlimited
}

/// What `SetLocationOptions` asks to change; nil leaves an option as it is.
package struct LocationOptionsChange: Hashable, Sendable {
    /// Metres; 0 turns it off.
    package var desiredAccuracy: Double?
    /// Metres; 0 turns it off.
    package var distanceFilter: Double?
    package var activity: Activity?
    /// Seconds; 0 turns it off.
    package var parkingDelay: Int64?
    /// Seconds.
    package var parkingInterval: Int64?

    package init(
        desiredAccuracy: Double? = nil, distanceFilter: Double? = nil, activity: Activity? = nil,
        parkingDelay: Int64? = nil, parkingInterval: Int64? = nil
    ) {
        self.desiredAccuracy = desiredAccuracy
        self.distanceFilter = distanceFilter
        self.activity = activity
        self.parkingDelay = parkingDelay
        self.parkingInterval = parkingInterval
    }
}

/// What `ClearCache` is to forget: the points that match all that is given; nothing given means every point.
package struct CacheSelection: Hashable, Sendable {
    /// Nil for all entities.
    package var entities: [String]?
    /// Milliseconds since 1970, included; nil for open.
    package var from: Int64?
    package var through: Int64?

    package init(entities: [String]? = nil, from: Int64? = nil, through: Int64? = nil) {
        self.entities = entities
        self.from = from
        self.through = through
    }
}
