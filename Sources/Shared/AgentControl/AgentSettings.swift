package import JSON

/// The settings that outlive a restart of the agent, by the keys of ``AgentSetting``.
///
/// A setting that is off or unlimited has no value. Keys that this version does not know are kept.
package struct AgentSettings: Codable, Hashable, Sendable {
    package var values: [String: JSONValue]

    package init(_ values: [String: JSONValue]) {
        self.values = values
    }

    /// Throws when a value is missing or of another type than the setting.
    package init(from decoder: any Decoder) throws {
        values = try JSONValue(from: decoder).objectValue ?? [:]
        for setting in AgentSetting.all {
            let value = values[setting.key]
            guard value.map(setting.takes) ?? setting.canBeAbsent else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no valid \(setting.key)"))
            }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        try JSONValue.object(values).encode(to: encoder)
    }
}

// What other code than the settings' own reads of them.
extension AgentSettings {
    /// Seconds.
    package var gatherInterval: Int64 { values["gather_interval"]?.integerValue ?? 0 }
    /// Seconds.
    package var packInterval: Int64 { values["pack_interval"]?.integerValue ?? 0 }
    /// Bytes on disk; nil for unlimited.
    package var cacheLimit: Int64? { values["cache_limit"]?.integerValue }
    /// Metres; nil for off.
    package var desiredAccuracy: Double? { values["desired_accuracy"]?.doubleValue }
    /// Metres; nil for off.
    package var distanceFilter: Double? { values["distance_filter"]?.doubleValue }
    package var activity: Activity { values["activity"]?.stringValue.flatMap(Activity.init) ?? .other }
    /// Seconds; nil for off.
    package var parkingDelay: Int64? { values["parking_delay"]?.integerValue }
    /// Seconds; nil from an agent that knows no parking.
    package var parkingInterval: Int64? { values["parking_interval"]?.integerValue }
}

/// What carries the agent. It decides which speeds are plausible.
package enum Activity: String, Codable, Hashable, Sendable, CaseIterable {
    case other, automotive, fitness, airborne
}

/// What `SetCacheLimit` asks for.
package enum CacheLimit: Hashable, Sendable {
    case bytes(Int64)
    case unlimited
}

/// What `SetLocationOptions` changes, by the keys of ``AgentSetting``. Other settings stay as they are.
package struct LocationOptionsChange: Hashable, Sendable {
    /// 0 turns off what can be off.
    package var values: [String: JSONValue]

    package init(_ values: [String: JSONValue]) {
        self.values = values
    }
}
