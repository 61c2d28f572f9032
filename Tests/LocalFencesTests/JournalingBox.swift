import AlarmLog
import Geofencing
import JSON
import TrackCache
import TrackModel

@testable import LocalFences

/// A box of the tests that writes alarms into a journal, as the agent's shell does.
protocol JournalingBox {
    /// No time passes for the journal.
    static var now: MonotonicTime { get }
    var journal: AlarmJournal { get }
}

enum JournalOutcome {
    case written([AlarmOutbox.Written])
    case refused(String)
}

extension JournalingBox {
    /// Writes alarms with the state that follows from them, or the state alone.
    func append(_ writing: AlarmOutbox.Writing) -> JournalOutcome {
        let state = FenceState(
            entity: writing.entity, time: writing.memory.lastTime?.milliseconds ?? 0, memory: writing.memory.encoded,
            service: writing.service)
        do throws(CacheFileError) {
            guard writing.isDurable else {
                try journal.note(state, now: Self.now)
                return .written([])
            }
            let alarms = writing.alarms.map { waiting in
                FenceVerdict.Told(
                    content: Self.content(of: waiting.alarm), isOwed: !waiting.isTold,
                    isReported: waiting.alarm.isReported)
            }
            switch try journal.append(FenceVerdict(alarms: alarms, state: state), now: Self.now) {
            case .full: return .refused("full")
            case .taken(let outcomes):
                return .written(
                    outcomes.map { outcome in
                        if case .new(let alarm) = outcome { .new(alarm.number) } else { .known }
                    })
            }
        } catch {
            return .refused("\(error)")
        }
    }

    private static func content(of alarm: LocalAlarm) -> NewAlarm {
        let action: FenceMark.Action =
            switch alarm.alarm.action {
            case .enter: .enter
            case .exit: .exit
            case .stay: .stay
            case .overspeed: .overspeed
            }
        return NewAlarm(
            id: alarm.id, type: alarm.type, entity: alarm.entity, time: alarm.time, received: 0, body: alarm.body,
            fence: FenceMark(fence: alarm.alarm.fence, action: action),
            early: alarm.cause.map { EarlyMark(stream: $0.stream, sequence: $0.sequence) }, service: alarm.service)
    }

    /// The keys of the journal, in the order of its numbers.
    var journaled: [String] {
        do {
            return try journal.alarms(AlarmQuery(limit: 10_000), now: Self.now).alarms.map { alarm in
                guard case .object(let body) = try JSONReader.value(of: Array(alarm.content.body.utf8)),
                    case .string(let key)? = body["key"]
                else { return "no key" }
                return key
            }
        } catch {
            return ["\(error)"]
        }
    }
}
