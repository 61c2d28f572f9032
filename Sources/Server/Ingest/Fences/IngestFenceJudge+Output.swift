import ConnectionLimits
import FenceJudging
import Geofencing
import Logging
import TrackModel
import TrackStore

// What the judge says of senders that make too much.
extension IngestFenceJudge {
    /// What batches take of the allowance of their entities before they are stored.
    typealias Drawn = [EntityKey: AlarmBudget]

    func budget(for batch: IngestBatch, of key: EntityKey, _ drawn: Drawn) -> AlarmBudget {
        outputs.budget(of: key, at: batch.received, drawn: drawn.isEmpty ? nil : drawn[key])
    }

    func draw(_ judged: inout JudgedBatch, _ rest: AlarmBudget, of key: EntityKey, _ drawn: inout Drawn) {
        (judged.untoldAlarms, judged.untoldMessages) = (rest.untoldAlarms, rest.untoldMessages)
        guard !judged.batch.alarms.isEmpty else { return }
        var taken = drawn[key] ?? AlarmBudget(alarms: 0, messages: 0)
        taken.alarms += judged.batch.alarms.count
        taken.messages += judged.messages
        drawn[key] = taken
    }

    /// A batch was stored.
    func spend(_ judged: JudgedBatch, of key: EntityKey) {
        let (batch, alarms) = (judged.batch, judged.batch.alarms.count)
        guard alarms + judged.untoldAlarms + judged.untoldMessages > 0 else { return }
        let notice = outputs.spend(
            alarms: alarms, messages: judged.messages, untoldAlarms: judged.untoldAlarms,
            untoldMessages: judged.untoldMessages, of: key, at: batch.received)
        if let notice { tell(notice, at: batch.received) }
        watchForStorms(batch)
    }

    /// Says what was not told since the last lines. Call it now and then.
    func tellUntold(at now: Timestamp) {
        for notice in outputs.takeNotices(at: now) { tell(notice, at: now) }
    }

    private func tell(_ notice: OutputAllowance.Notice, at now: Timestamp) {
        guard let skipped = lines.line(at: MonotonicTime(milliseconds: now.milliseconds)) else { return }
        logger.warning(
            "an entity makes more alarms than are told: the others are counted and left out, and its points are stored",
            metadata: [
                "service": "\(notice.entity.service.rawValue)", "entity": "\(notice.entity.name)",
                "alarms": "\(notice.alarms)", "messages": "\(notice.messages)", "skipped": "\(skipped)",
            ])
    }

    private func watchForStorms(_ batch: IngestBatch) {
        for caused in batch.alarms
        where storm.add(fence: caused.alarm.fence, entity: batch.entity, at: batch.received) {
            let now = MonotonicTime(milliseconds: batch.received.milliseconds)
            guard let skipped = lines.line(at: now) else { continue }
            logger.warning(
                "a fence makes more than \(AlarmStorm.usual) alarms of an entity within an hour",
                metadata: [
                    "service": "\(batch.service.rawValue)", "fence": "\(caused.alarm.fence)",
                    "entity": "\(batch.entity)", "skipped": "\(skipped)",
                ])
        }
    }
}

/// A batch with what its points bring about.
struct JudgedBatch: Sendable {
    var batch: IngestBatch
    /// What is remembered of the entity when the batch is stored; nil: no fence looks at the entity.
    var state: JudgedState?
    var late = 0
    var ahead = 0
    var untoldAlarms = 0
    var untoldMessages = 0
    /// Those of the reported alarms that are not among the batch's any more.
    var untold: [AlarmKey] = []
    /// It was not judged: the batches of its sender before it cause enough for one transaction.
    var isLeft = false

    init(batch: IngestBatch) { self.batch = batch }

    /// Messages to other entities than the batch's own.
    var messages: Int {
        batch.alarms.reduce(0) { sum, caused in
            sum + caused.pushes.reduce(0) { $0 + $1.receivers(beside: batch.entity) }
        }
    }

    /// Rows that the batch causes beside its points.
    var rows: Int {
        guard !batch.alarms.isEmpty else { return 0 }
        return batch.alarms.reduce(0) { sum, caused in
            sum + (caused.isCalledBack ? 2 : 1)
                + caused.pushes.reduce(0) { sum, push in
                    if case .entities(let names) = push.targets { sum + 1 + names.count } else { sum + 1 }
                }
        }
    }

    /// Leaves out the reported alarms for which there is no room.
    mutating func keepReported(within budget: inout AlarmBudget) {
        let kept = batch.alarms.filter { caused in
            guard budget.takeAlarm() else {
                untold.append(caused.alarm.key)
                return false
            }
            return true
        }
        batch.alarms = kept.map { caused in
            let others = caused.pushes.reduce(0) { $0 + $1.receivers(beside: batch.entity) }
            guard others > 0, !budget.takeMessages(others) else { return caused }
            var alone = caused
            alone.pushes = []
            return alone
        }
    }
}

extension NewPush {
    fileprivate func receivers(beside entity: String) -> Int {
        guard case .entities(let names) = targets else { return 0 }
        return names.count { !$0.utf8.elementsEqual(entity.utf8) }
    }
}
