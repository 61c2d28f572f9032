internal import FenceJSON
package import Geofencing
internal import TrackModel

/// An alarm that the box has found, of a fence of its own or of the server's, with everything that is told of it.
package struct LocalAlarm: Hashable, Sendable {
    package let alarm: FenceAlarm
    package let source: AlarmScope.Source
    package let entity: String
    /// The number of the service that the agent ran for.
    package let service: Int64
    /// The point that caused it; nil for a fence of the box's own, whose points need not be in the ring.
    package let cause: PointCause?
    package let key: AlarmKey
    /// The fence's name, and its group when the alarm is the group's.
    package let name: String
    package let group: String?
    /// A JSON object for hooks and programs; nil when the fence has none for this action.
    package let parameters: String?
    /// Other watchers are told too.
    package let isRemote: Bool
    /// These are: the server tells them when it has the agent's report. As at the server, a fence that names too many tells
    /// nobody else.
    package let remoteTo: [String]
    /// The agent reports it to the server.
    package let isReported: Bool

    /// `isReported`: whatever the definition says. An alarm of a server fence is reported when the server may not find it.
    init(
        _ alarm: FenceAlarm, of definition: FenceDefinition, in scope: AlarmScope, cause: PointCause? = nil,
        isReported: Bool = false
    ) {
        self.alarm = alarm
        (source, entity, service) = (scope.source, scope.entity, scope.service)
        self.cause = cause
        key = AlarmKey(alarm, in: scope)
        name = definition.name
        group = alarm.group == nil ? nil : definition.group
        let reaction = definition.reaction(to: alarm.action)
        parameters = reaction?.parameters
        isRemote = reaction?.isRemote ?? false
        let isTold = scope.source == .local && definition.isReported
        self.isReported = isReported || isTold
        let watched = definition.watch.entities
        remoteTo =
            isTold && isRemote && watched.count <= FenceReaction.mostRemote
            ? watched.filter { $0 != ExactName(scope.entity) }.map(\.text) : []
    }

    /// 3 for a server fence, 4 for a fence of the box's own.
    package var type: UInt32 { UInt32(source.rawValue) }
    /// The number by which the journal knows the alarm, made of its key.
    package var id: UInt64 { UInt64(key.pushID(to: entity)) }
    /// When it happened, by GNSS time, milliseconds since 1970.
    package var time: Int64 { alarm.crossing.time.milliseconds }

    /// Bytes of the longest body.
    package static let mostBodyBytes = 16_384

    /// The alarm as JSON; parameters that make it too long are left out.
    package var body: String {
        var body = AlarmBody(
            key, of: entity, action: alarm.action, fence: alarm.fence, revision: alarm.revision, name: name,
            point: AlarmBody.Point(alarm.point), crossing: alarm.crossing)
        body.group = group
        body.previous = alarm.previous.map(AlarmBody.Point.init)
        body.inside = alarm.inside
        body.skipped = alarm.skipped
        body.speedLimit = alarm.speedLimit
        body.isRemote = isRemote
        body.remoteTo = remoteTo
        body.parameters = parameters
        return body.text(most: Self.mostBodyBytes)
    }
}

extension AlarmBody.Point {
    fileprivate init(_ point: FencePoint) {
        self.init(time: point.time, place: point.place, accuracy: point.accuracy)
    }
}
