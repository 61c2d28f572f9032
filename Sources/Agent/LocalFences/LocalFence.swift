internal import FenceJSON
internal import Geodesy
package import Geofencing
internal import TrackModel

/// A fence of the box's own, and since when it judges, by the time of the points that it judges: the box's clock may be
/// wrong.
package struct LocalFence: KeepableFence {
    /// An entity that the fence began to watch later.
    struct Joined: Hashable, Sendable {
        let entity: ExactName
        var since: Timestamp
    }

    package var fence: Fence
    /// Points before are not judged by it.
    var since: Timestamp
    /// Places are set anew from points before.
    var revised: Timestamp
    /// The newest are last.
    private(set) var joined: [Joined] = []

    /// Entities that are remembered so.
    static let mostJoined = 16

    init(_ fence: Fence, since: Timestamp) {
        self.fence = fence
        self.since = since
        revised = since
    }

    /// Points of this entity are judged from `since` on.
    mutating func join(_ entity: ExactName, since: Timestamp) {
        joined.removeAll { $0.entity == entity }
        joined = joined.suffix(Self.mostJoined - 1) + [Joined(entity: entity, since: since)]
    }

    package var number: Int32 { fence.id }
    /// Whom the fence watches.
    package var facts: FenceSubjects { fence.definition.watch }
    package var vertexCount: Int { fence.definition.shape.vertexCount }

    /// What is judged for an entity.
    ///
    /// - Throws: ``FenceError`` when nobody knows the zone of the fence's weekly windows.
    func plan(for entity: String, _ zones: [String: ZoneOffsets]) throws(FenceError) -> FencePlan {
        var zone: ZoneOffsets?
        if case .named(let name)? = fence.definition.validity?.zone { zone = zones[name] }
        let name = ExactName(entity)
        let since = joined.last { $0.entity == name }?.since ?? since
        var plan = try fence.plan(from: since, zone: zone)
        plan.revisedAt = revised
        return plan
    }

    // MARK: As bytes

    /// The format: docs/formats/fences.md. ``Kept`` puts other times into the first 16 bytes.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(fixed: since.milliseconds)
        bytes.append(fixed: revised.milliseconds)
        bytes.append(UInt8(joined.count))
        for entity in joined {
            let name = Array(entity.entity.text.utf8)
            bytes += [UInt8(name.count)] + name
            bytes.append(fixed: entity.since.milliseconds)
        }
        return bytes + fence.encoded
    }

    package var fenceStart: Int { joined.reduce(17) { $0 + 9 + $1.entity.text.utf8.count } }

    /// Names have at most 255 bytes.
    package static var mostTimeBytes: Int { 17 + mostJoined * (1 + 255 + 8) }

    package static func times(in head: [UInt8]) -> [Int] {
        guard head.count > 16 else { return [] }
        var (places, next) = ([0, 8], 17)
        for _ in 0..<head[16] where next < head.count {
            let place = next + 1 + Int(head[next])
            next = place + 8
            if next <= head.count { places.append(place) }
        }
        return places
    }

    package init(number: Int32, encoded bytes: [UInt8], isKnown: Bool = false) throws(FenceStateCodingError) {
        var rest = FixedBytes(bytes, of: "fence \(number)")
        since = Timestamp(milliseconds: try rest.integer())
        revised = Timestamp(milliseconds: try rest.integer())
        for _ in 0..<(try rest.integer(UInt8.self)) {
            let length = Int(try rest.integer(UInt8.self))
            guard let name = String(validating: try rest.take(length), as: UTF8.self) else {
                throw FenceStateCodingError(description: "fence \(number) names an entity that is not UTF-8")
            }
            joined.append(Joined(entity: ExactName(name), since: Timestamp(milliseconds: try rest.integer())))
        }
        fence = try Fence(id: number, encoded: rest.remaining, isKnown: isKnown)
    }
}

extension Kept where Value == LocalFence {
    /// The fence judges from `since` on. It is not made for that: an import may have ten thousand of them.
    mutating func begin(_ number: Int32, since: Timestamp) {
        var times: [UInt8] = []
        times.append(fixed: since.milliseconds)
        replace(number, from: 0, with: times + times)
    }

    /// Places are set anew from points before `time`. The fence is not made for that.
    mutating func revise(_ number: Int32, at time: Timestamp) {
        var revised: [UInt8] = []
        revised.append(fixed: time.milliseconds)
        replace(number, from: 8, with: revised)
    }
}

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
