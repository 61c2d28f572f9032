internal import AgentControl
internal import AlarmLog
internal import Geofencing
internal import JSON
internal import LocalFences
internal import TrackCache
internal import TrackModel

/// Alarms that the agent has found as records of the alarm journal.
enum FenceJournal {
    enum Outcome: Sendable {
        /// For each alarm what became of it, and those that are new.
        case written([AlarmOutbox.Written], [Alarm])
        case refused(String)
    }

    /// Runs on the disk thread.
    static func write(
        _ writing: AlarmOutbox.Writing, to journal: AlarmJournal, areHooksOwed: Bool, received: SystemTime,
        now: MonotonicTime
    ) -> Outcome {
        let state = FenceState(
            entity: writing.entity, time: writing.memory.lastTime?.milliseconds ?? 0, memory: writing.memory.encoded,
            service: writing.service)
        do throws(CacheFileError) {
            guard writing.isDurable else {
                try journal.note(state, now: now)
                return .written([], [])
            }
            let alarms = writing.alarms.map { waiting in
                FenceVerdict.Told(
                    content: NewAlarm(waiting.alarm, received: received), isOwed: areHooksOwed && !waiting.isTold,
                    isReported: waiting.alarm.isReported)
            }
            switch try journal.append(FenceVerdict(alarms: alarms, state: state), now: now) {
            case .full:
                return .refused("alarms whose hooks have not ended fill the alarm journal: see hooks in saker status")
            case .taken(let appended):
                var (outcomes, new): ([AlarmOutbox.Written], [Alarm]) = ([], [])
                for one in appended {
                    switch one {
                    case .new(let alarm):
                        outcomes.append(.new(alarm.number))
                        new.append(alarm)
                    case .known, .confirmed, .dropped, .full: outcomes.append(.known)
                    }
                }
                return .written(outcomes, new)
            }
        } catch {
            return .refused("\(error)")
        }
    }
}

extension NewAlarm {
    init(_ alarm: LocalAlarm, received: SystemTime) {
        self.init(
            id: alarm.id, type: alarm.type, entity: alarm.entity, time: alarm.time, received: received.milliseconds,
            body: alarm.body, fence: FenceMark(fence: alarm.alarm.fence, action: FenceMark.Action(alarm.alarm.action)),
            early: alarm.cause.map { EarlyMark(stream: $0.stream, sequence: $0.sequence) }, service: alarm.service)
    }
}

extension FenceMark.Action {
    init(_ action: FenceAction) {
        self =
            switch action {
            case .enter: .enter
            case .exit: .exit
            case .stay: .stay
            case .overspeed: .overspeed
            }
    }

    init(_ action: AlarmSelection.Action) {
        self =
            switch action {
            case .enter: .enter
            case .exit: .exit
            case .stay: .stay
            case .overspeed: .overspeed
            }
    }
}

extension AlarmReport {
    /// An alarm that is told before it is on the disk.
    init(notDurable alarm: LocalAlarm, received: SystemTime) {
        self.init(
            number: 0, id: Int64(bitPattern: alarm.id), type: Int64(alarm.type), entity: alarm.entity, time: alarm.time,
            received: received.milliseconds,
            body: JSONValue(alarmBody: alarm.body), durable: false,
            early: alarm.source == .server ? true : nil)
    }
}
