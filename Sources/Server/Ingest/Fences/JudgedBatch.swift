import FenceJudging
import Geofencing
import TrackStore

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
