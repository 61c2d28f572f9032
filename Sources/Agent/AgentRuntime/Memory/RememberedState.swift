internal import AgentLogic
internal import TrackModel

/// What must survive a restart: the settings people made, and what the agent was told last.
package struct RememberedState: Codable, Hashable, Sendable {
    struct Target: Codable, Hashable, Sendable {
        var isServiceStarted: Bool
        var isGathering: Bool
        var entity: String?

        init(_ target: TargetState) {
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

    var version = 1
    /// Nil until somebody told the agent something.
    var target: Target?
    /// Nil while everything is at its default.
    var settings: RememberedSettings?
    /// Nil until the first login.
    var columns: Columns?
}

extension TargetState {
    init(_ remembered: RememberedState.Target) {
        self.init(
            entity: remembered.entity, isServiceStarted: remembered.isServiceStarted,
            isGathering: remembered.isGathering)
    }
}
