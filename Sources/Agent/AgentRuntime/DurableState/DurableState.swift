internal import AgentLogic
internal import TrackModel

/// What must survive a restart: the settings people made, and what the agent was told last.
package struct DurableState: Codable, Hashable, Sendable {
    struct Target: Codable, Hashable, Sendable {
        var isServiceStarted: Bool
        var isGathering: Bool
        var entity: String?
        /// Who told the agent to stop, a raw value of `StopCause`; nil: it gathers, or an earlier version wrote this.
        var stoppedBy: String?
        /// When the agent ceased to gather, milliseconds since 1970 by the system clock; nil: it gathers, or an earlier version
        /// wrote this.
        var stoppedTime: Int64?

        init(_ target: TargetState, stoppedBy cause: String? = nil, at time: Int64? = nil) {
            stoppedBy = target.isGathering ? nil : cause
            stoppedTime = target.isGathering ? nil : time
            isServiceStarted = target.isServiceStarted
            isGathering = target.isGathering
            entity = target.entity
        }
    }

    /// The service's track columns as the last login told them.
    struct Columns: Codable, Hashable, Sendable {
        struct Column: Codable, Hashable, Sendable {
            var key: String
            /// A raw value of `AttributeType`.
            var type: String
        }

        var service: Int64
        var columns: [Column]

        init(_ columns: [AttributeColumn], of service: ServiceID) {
            self.service = service.rawValue
            self.columns = columns.map { Column(key: $0.key, type: $0.type.rawValue) }
        }

        /// Nil when they are another service's.
        func columns(of service: ServiceID) -> [AttributeColumn]? {
            guard self.service == service.rawValue else { return nil }
            return columns.compactMap { column in
                AttributeType(rawValue: column.type).map { AttributeColumn(key: column.key, type: $0) }
            }
        }
    }

    /// A gap of the track that was open: what the process knew of it.
    struct Gap: Codable, Hashable, Sendable {
        struct Span: Codable, Hashable, Sendable {
            /// A number of `GapReason`.
            var reason: UInt8
            /// Milliseconds since 1970, by the receiver; nil: since the point before.
            var from: Int64?
            var until: Int64
        }

        var entity: String
        /// The time of the entity's last point.
        var since: Int64?
        var spans: [Span]

        init(_ memory: OpenGap) {
            entity = memory.entity
            since = memory.since?.milliseconds
            spans = memory.spans.map {
                Span(reason: $0.reason.rawValue, from: $0.from?.milliseconds, until: $0.until.milliseconds)
            }
        }
    }

    /// From a moment on, why the agent was off.
    struct Off: Codable, Hashable, Sendable {
        /// A number of `GapReason`.
        var reason: UInt8
        /// Milliseconds of the monotonic clock of this start of the computer; nil: since before it.
        var since: Int64?
    }

    /// The process that wrote this, and what became of it.
    struct Run: Codable, Hashable, Sendable {
        /// Names the start of the computer.
        var boot: String
        /// The process has ended in order.
        var hasEnded: Bool
        /// When it began, milliseconds of the monotonic clock of this start of the computer; nil: an earlier version wrote this.
        var began: Int64?
        /// How the agent was off before it began: see ``Off``.
        var before: [Off]?
    }

    var version = 1
    /// Nil until somebody told the agent something.
    var target: Target?
    /// The enrolment under which it was told; nil: the configuration named none.
    var enrollment: String?
    /// Nil while everything is at its default.
    var settings: DurableSettings?
    /// Nil until the first login.
    var columns: Columns?
    /// Nil while points are made, and in a gap that is still short.
    var gap: Gap?
    /// Nil when nothing names the start of the computer.
    var run: Run?

    /// What a person told the vehicle that it was before does not hold for the one that it is now: not its name, and not that
    /// it was stopped. Settings are the box's, and a file that names no enrolment is a person's, who may correct it at any time.
    /// False when nothing was forgotten.
    mutating func begin(under enrolled: String?) -> Bool {
        guard let enrolled, enrolled != enrollment else { return false }
        defer { (enrollment, target) = (enrolled, nil) }
        return target != nil
    }
}

extension OpenGap {
    /// Leaves out what no program of this version wrote.
    init(_ remembered: DurableState.Gap) {
        self.init(
            entity: remembered.entity, since: remembered.since.map { Timestamp(milliseconds: $0) },
            spans: remembered.spans.prefix(Continuity.maximumSpans).filter { $0.reason > 0 }.map {
                GapSpan(
                    GapReason(rawValue: $0.reason), from: $0.from.map { Timestamp(milliseconds: $0) },
                    until: Timestamp(milliseconds: $0.until))
            })
    }
}

extension TargetState {
    init(_ remembered: DurableState.Target) {
        self.init(
            entity: remembered.entity, isServiceStarted: remembered.isServiceStarted,
            isGathering: remembered.isGathering)
    }
}

extension DurableState {
    /// The settings in the state file: a member for each of ``SettingKey``, under its name in camel case.
    ///
    /// A setting without a member is off. If the version that wrote the file did not know the setting, the setting has
    /// its default.
    struct DurableSettings: Codable, Hashable, Sendable {
        var record: SettingsRecord

        init(_ settings: Settings) {
            record = SettingsRecord(settings)
        }

        /// Throws when a value breaks its rule: somebody edited the file.
        func settings() throws(SettingsError) -> Settings { try Settings(record) }

        /// Throws when a member is of another type than its setting.
        init(from decoder: any Decoder) throws {
            record = SettingsRecord(Settings())
            let members = try decoder.container(keyedBy: Member.self)
            for key in SettingKey.allCases {
                let member = Member(key)
                let value: SettingValue? =
                    switch key.kind {
                    case .integer: try members.decodeIfPresent(Int64.self, forKey: member).map(SettingValue.integer)
                    case .number: try members.decodeIfPresent(Double.self, forKey: member).map(SettingValue.number)
                    case .text: try members.decodeIfPresent(String.self, forKey: member).map(SettingValue.text)
                    case .flag: try members.decodeIfPresent(Bool.self, forKey: member).map(SettingValue.flag)
                    }
                if value != nil || key.canBeOff { record[key] = value }
            }
        }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Member.self)
            for key in SettingKey.allCases {
                switch record[key] {
                case .integer(let value): try members.encode(value, forKey: Member(key))
                case .number(let value): try members.encode(value, forKey: Member(key))
                case .text(let value): try members.encode(value, forKey: Member(key))
                case .flag(let value): try members.encode(value, forKey: Member(key))
                case nil: break
                }
            }
        }
    }

    private struct Member: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ key: SettingKey) {
            let words = key.rawValue.split(separator: "_")
            stringValue = words.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }
                .joined()
        }

        init?(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}
