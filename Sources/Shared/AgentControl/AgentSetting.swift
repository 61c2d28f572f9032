package import JSON

/// One setting as the control interface shows it: from ``all`` come the types and parameters in ``AgentInterface``, what
/// `SetLocationOptions` takes, and what `saker settings show` prints. The agent's rules are in its own `SettingsRecord`.
package struct AgentSetting: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// With the unit that is shown.
        case integer(String)
        case number(String)
        case bytes
        /// One of the names of an enumeration of the interface.
        case choice(String, [String])
    }

    /// The member of `Settings` and the parameter that sets it.
    package let key: String
    package let kind: Kind
    /// What is shown when there is no value; nil for a setting that always has one.
    package let absent: String?
    /// Whether an older agent does not know it.
    package let isRecent: Bool
    /// Whether `SetLocationOptions` sets it.
    package let isLocationOption: Bool
    /// The row of `saker settings show`.
    package let label: String
    /// What stands in the one line of `saker status`, with `%` for the value; nil for nothing.
    package let summary: String?
    /// What the interface says of it, a line; nil when its method says it.
    package let about: String?

    private init(
        _ key: String, _ kind: Kind, absent: String? = nil, isRecent: Bool = false, isLocationOption: Bool = false,
        label: String, summary: String? = nil, about: String? = nil
    ) {
        self.key = key
        self.kind = kind
        self.absent = absent
        self.isRecent = isRecent
        self.isLocationOption = isLocationOption
        self.label = label
        self.summary = summary
        self.about = about
    }

    /// All settings, in the order in which they are shown.
    package static let all = [
        AgentSetting("gather_interval", .integer("s"), label: "Gather interval", summary: "gather %"),
        AgentSetting("pack_interval", .integer("s"), label: "Pack interval", summary: "pack %"),
        AgentSetting("cache_limit", .bytes, absent: "unlimited", label: "Cache limit"),
        AgentSetting(
            "desired_accuracy", .number("m"), absent: "off", isLocationOption: true, label: "Desired accuracy",
            summary: "accuracy %", about: "fixes with a larger estimated error make no point, 0.1 to 10000."),
        AgentSetting(
            "distance_filter", .number("m"), absent: "off", isLocationOption: true, label: "Distance filter",
            summary: "distance filter %", about: "fixes nearer to the last point make no point, 0.1 to 100000."),
        AgentSetting(
            "activity", .choice("Activity", Activity.allCases.map(\.rawValue)), isLocationOption: true,
            label: "Activity", summary: "%", about: "decides which speeds are believed."),
        AgentSetting(
            "parking_delay", .integer("s"), absent: "off", isLocationOption: true, label: "Parked after",
            summary: "parked after %", about: "so long without movement is parking, 60 to 86400."),
        AgentSetting(
            "parking_interval", .integer("s"), isRecent: true, isLocationOption: true, label: "Parked interval",
            about: "from one point to the next while parked, 10 to 86400."),
    ]

    package static let locationOptions = all.filter(\.isLocationOption)
}

extension AgentSetting {
    var canBeAbsent: Bool { absent != nil || isRecent }

    func takes(_ value: JSONValue) -> Bool {
        switch kind {
        case .integer, .bytes: value.integerValue != nil
        case .number: value.doubleValue != nil
        case .choice(_, let names): value.stringValue.map(names.contains) ?? false
        }
    }

    /// The type in the interface's text.
    private var type: String {
        switch kind {
        case .integer, .bytes: "int"
        case .number: "float"
        case .choice(let name, _): name
        }
    }

    /// The type `Settings` and the method `SetLocationOptions` in the interface's text.
    static var typeText: String {
        """
        # Intervals and delays in seconds, cache_limit in bytes (absent for unlimited), options absent for off.
        type Settings (
        \(all.map { "  \($0.key): \($0.canBeAbsent ? "?" : "")\($0.type)" }.joined(separator: ",\n"))
        )
        """
    }

    static var methodText: String {
        let zero = locationOptions.filter { $0.absent != nil }.map(\.key).joined(separator: ", ")
        let lines = locationOptions.compactMap { option in option.about.map { "# \(option.key): \($0)" } }
        return """
            # What is absent stays as it is; 0 turns off: \(zero).
            \(lines.joined(separator: "\n"))
            method SetLocationOptions(
            \(locationOptions.map { "  \($0.key): ?\($0.type)" }.joined(separator: ",\n"))
            ) -> (settings: Settings, durable: ?bool)
            """
    }
}

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
