import Geofencing
import TrackModel
package import TrackStore

/// Judges the points of batches by the fences of their service. It remembers nothing: what must be remembered goes in and
/// comes out.
package struct BatchJudge: Sendable {
    /// What the points of a batch bring about.
    package struct Verdict: Sendable {
        package var state: JudgedState
        package var alarms: [CausedAlarm] = []
        package var judged = 0
        /// At or before a point that was judged before: they change nothing.
        package var late = 0
        /// Dated so far ahead of the server's clock that judging them would make everything after them late.
        package var ahead = 0
    }

    /// Milliseconds that a point may be ahead of the server's clock and still be judged: ten minutes.
    package static let lead: Int64 = 600_000

    /// Most entities to which one alarm is told remotely: see decision 18.
    package static let mostRemote = 100

    private var judge = FenceJudge()
    private var found: [FenceAlarm] = []

    package init() {}

    /// `state`: of the entity before the batch. `fences`: ascending in time; the first of them judges from the beginning.
    package mutating func judge(
        _ batch: IngestBatch, from state: JudgedState, by fences: [JudgingFences]
    ) -> Verdict {
        var verdict = Verdict(state: state)
        var memory = state.memory
        let before = state.memory.lastTime ?? Timestamp(milliseconds: .min)
        let latest = batch.received.adding(milliseconds: Self.lead)
        for point in Self.newPoints(of: batch) {
            guard point.fix.time <= latest else {
                verdict.ahead += 1
                continue
            }
            guard let set = fences.last(where: { $0.after < point.fix.time }) ?? fences.first else { continue }
            if memory.lastTime.map({ $0 <= set.after }) ?? false {
                if set.beginsAnew { memory.beginAnew() }
                for fence in set.fresh { memory.forget(fence: fence) }
            }
            found.removeAll(keepingCapacity: true)
            switch judge.judge(FencePoint(point), of: &memory, by: set.everyones.set, own: set.own?.set, into: &found) {
            case .judged: verdict.judged += 1
            case .late: verdict.late += 1
            }
            for alarm in found {
                guard let label = set.label(of: alarm.fence) else { continue }
                let caused = Self.caused(alarm, by: batch, label, isStale: set.isStale(alarm)) { time in
                    time > before ? batch.received : state.received(time) ?? batch.received
                }
                verdict.alarms.append(caused)
            }
        }
        if verdict.judged > 0 { verdict.state.went(on: memory, at: batch.received) }
        return verdict
    }

    /// The points that are not stored yet, as far as their session knows, in the order of their times; of equal times the
    /// first counts.
    private static func newPoints(of batch: IngestBatch) -> [TrackPoint] {
        var points = batch.points
        if let position = batch.position, batch.sequences.first.map({ $0 <= position.previous }) ?? false {
            points = zip(points, batch.sequences).filter { $0.1 > position.previous }.map(\.0)
        }
        let isOrdered = zip(points, points.dropFirst()).allSatisfy { $0.fix.time <= $1.fix.time }
        guard !isOrdered else { return points }
        return points.enumerated().sorted {
            ($0.element.fix.time, $0.offset) < ($1.element.fix.time, $1.offset)
        }.map(\.element)
    }

    private static func caused(
        _ found: FenceAlarm, by batch: IngestBatch, _ label: FenceLabel, isStale: Bool,
        received: (Timestamp) -> Timestamp
    ) -> CausedAlarm {
        let scope = AlarmScope(service: batch.service.rawValue, entity: batch.entity, source: .server)
        let reaction = label.reactions.first { $0.on == found.action }
        let alarm = Alarm(
            key: AlarmKey(found, in: scope), source: .server, fence: found.fence, revision: found.revision,
            name: label.name, group: found.group == nil ? nil : label.group, action: found.action,
            point: AlarmPoint(found.point, received: batch.received),
            previous: found.previous.map { AlarmPoint($0, received: received($0.time)) }, crossing: found.crossing,
            inside: found.inside, skipped: found.skipped, speedLimit: found.speedLimit,
            parameters: reaction?.parameters, isStale: isStale)
        let isRemote = reaction?.isRemote ?? false
        // Each target is a row of the transaction that stores the points.
        let others = isRemote && label.watch.entities.count <= mostRemote ? label.watch.entities.map(\.text) : []
        let targets = PushTargets.entities([batch.entity] + others)
        let push = NewPush(
            type: PushRules.fenceAlarm, body: alarm.body(of: batch.entity, isRemote: isRemote), targets: targets,
            alarm: alarm.key)
        // The vehicle has told it and waits for the server's word. The operator has changed his mind before it happened.
        return CausedAlarm(alarm, pushes: [push], isCalledBack: !isStale)
    }
}

extension AlarmPoint {
    fileprivate init(_ point: FencePoint, received: Timestamp) {
        self.init(
            time: point.time, place: point.place, accuracy: point.accuracy, speed: point.speed, received: received)
    }
}
