package import Geofencing
package import TrackModel

/// Which alarms of a service to list; all conditions must hold.
package struct AlarmFilter: Hashable, Sendable {
    package var entity: String?
    /// At most ``FenceRules/mostNumbers`` different ones.
    package var fences: [Int32]?
    package var actions: Set<FenceAction>?
    /// Whose fences; nil: the server's and the vehicles' own. Their numbers have nothing to do with each other.
    package var source: AlarmScope.Source?
    /// By ``AlarmRecord/received``, both ends included; nil: open.
    package var from: Timestamp?
    package var through: Timestamp?
    /// Whether those of fences that were replaced before are meant too: ``Alarm/isStale``.
    package var includesStale: Bool

    package init(
        entity: String? = nil, fences: [Int32]? = nil, actions: Set<FenceAction>? = nil,
        source: AlarmScope.Source? = nil, from: Timestamp? = nil, through: Timestamp? = nil, includesStale: Bool = false
    ) {
        self.entity = entity
        self.fences = fences
        self.actions = actions
        self.source = source
        self.from = from
        self.through = through
        self.includesStale = includesStale
    }
}

/// The history of alarms. Alarms come with the points that cause them: ``IngestBatch/alarms``.
package protocol AlarmStore: Sendable {
    /// Matches in the order of ``AlarmRecord/received``, at equal times of their numbers, and how many there are without the
    /// page's bounds; none of an unknown service. Alarms of deleted entities and fences are among them. Throws
    /// `.tooManyNames` beyond ``FenceRules/mostNumbers``.
    func alarms(
        in service: ServiceID, matching filter: AlarmFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, alarms: [AlarmRecord])
    /// Removes alarms that were received before a time, at most about `limit`; returns how many. 0: there are no more. One
    /// that still waits for the operator's URL waits no longer.
    func removeAlarms(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int
}

/// An alarm of a fence, with the fence's name and parameters as they were then.
package struct Alarm: Hashable, Sendable {
    /// The same for the same points and fences, on any machine.
    package var key: AlarmKey
    /// Whose fence it is: the server's, or the agent's own.
    package var source: AlarmScope.Source
    package var fence: Int32
    package var revision: Int32
    /// Of the fence; may be empty.
    package var name: String
    /// Set for the alarm of a whole group; `fence` is then the member that caused it.
    package var group: String?
    package var action: FenceAction
    /// The point that proved it.
    package var point: AlarmPoint
    /// The entity's point before that one, as the fence saw it.
    package var previous: AlarmPoint?
    package var crossing: Crossing
    /// Milliseconds inside, at exit and stay.
    package var inside: Int64?
    /// Stays that were due before this one and are not told.
    package var skipped: Int
    /// cm/s, at overspeed.
    package var speedLimit: Int32?
    /// What the fence says goes along: a JSON object.
    package var parameters: String?
    /// A vehicle judged the point by a revision of the fence that was replaced or deleted at the server before the point's
    /// time.
    package var isStale: Bool
    /// A vehicle told it, and the server did not find it itself.
    package var isReported: Bool

    package init(
        key: AlarmKey, source: AlarmScope.Source, fence: Int32, revision: Int32, name: String, group: String? = nil,
        action: FenceAction, point: AlarmPoint, previous: AlarmPoint? = nil, crossing: Crossing, inside: Int64? = nil,
        skipped: Int = 0, speedLimit: Int32? = nil, parameters: String? = nil, isStale: Bool = false,
        isReported: Bool = false
    ) {
        self.key = key
        self.source = source
        self.fence = fence
        self.revision = revision
        self.name = name
        self.group = group
        self.action = action
        self.point = point
        self.previous = previous
        self.crossing = crossing
        self.inside = inside
        self.skipped = skipped
        self.speedLimit = speedLimit
        self.parameters = parameters
        self.isStale = isStale
        self.isReported = isReported
    }
}

/// A point as an alarm keeps it. The place is WGS 84.
package struct AlarmPoint: Hashable, Sendable {
    /// GNSS time.
    package var time: Timestamp
    package var place: Coordinate
    /// Estimated error, 0.1 m; nil when unknown.
    package var accuracy: Int32?
    /// cm/s; nil when unknown.
    package var speed: Int32?
    /// When the server received it.
    package var received: Timestamp

    package init(
        time: Timestamp, place: Coordinate, accuracy: Int32? = nil, speed: Int32? = nil, received: Timestamp
    ) {
        self.time = time
        self.place = place
        self.accuracy = accuracy
        self.speed = speed
        self.received = received
    }
}

/// An alarm that the points of a batch cause: stored with them, or not at all. One whose key its service has already
/// changes nothing.
package struct CausedAlarm: Hashable, Sendable {
    package var alarm: Alarm
    /// Queued with the alarm. Targets that the service does not have are left out.
    package var pushes: [NewPush]
    /// Whether the alarm is queued for the operator's URL too, if the service has one: see ``CallbackStore``.
    package var isCalledBack: Bool

    package init(_ alarm: Alarm, pushes: [NewPush] = [], isCalledBack: Bool = true) {
        self.alarm = alarm
        self.pushes = pushes
        self.isCalledBack = isCalledBack
    }
}

/// An alarm in the history.
package struct AlarmRecord: Hashable, Sendable {
    /// Greater than that of every alarm of the service stored before, and never used again.
    package var number: Int64
    /// Who moved: a name, whose entity may have been deleted since.
    package var entity: String
    package var alarm: Alarm
    /// When the server received the batch that caused it.
    package var received: Timestamp

    package init(number: Int64, entity: String, alarm: Alarm, received: Timestamp) {
        self.number = number
        self.entity = entity
        self.alarm = alarm
        self.received = received
    }
}
