internal import SwiftProtobuf
package import TrackModel

// A vehicle's health on the wire and in the store's rows: one form, so that a store reads what any agent wrote.

extension Health {
    package init(_ report: HealthReport) {
        self.init()
        backlog = report.backlog
        losses = HealthReport.LossReason.allCases.compactMap { reason in
            guard let points = report.losses[reason], points > 0 else { return nil }
            var loss = Loss()
            loss.reason = LossReason(reason)
            loss.points = points
            return loss
        }
        if let age = report.lossAge { lossAge = UInt32(clamping: age) }
        receiver = Receiver(report.receiver)
        if let age = report.fixAge { fixAge = UInt32(clamping: age) }
        gathering = report.isGathering
        disk = Disk(report.disk)
        certificateEnd = report.certificateEnd ?? 0
        switch report.dates {
        case .disagreement(let receiver, let clock, let isClockUsed):
            (receiverTime, clockTime, clockUsed) = (receiver.seconds, clock.seconds, isClockUsed)
        case .missing(let isClockUsed): (timesMissing, clockUsed) = (true, isClockUsed)
        case .standing(let receiver, let isClockUsed):
            // A reader of an earlier version takes it for a missing time.
            (timesMissing, clockStands, receiverTime, clockUsed) = (true, true, receiver.seconds, isClockUsed)
        case .receivers(let used, let other, _): (usedDate, otherDate) = (used.seconds, other.seconds)
        case nil: break
        }
        guard let verdict = report.verdict else { return }
        obstacle = Obstacle(verdict.obstacle)
        obstacleAge = UInt32(clamping: verdict.age)
        rejected = verdict.rejected
    }
}

extension HealthReport {
    /// A peer may send anything: what this program does not know becomes `other` or `unknown`.
    package init(_ health: Health) {
        var losses: [LossReason: UInt64] = [:]
        for loss in health.losses {
            let (sum, isTooMany) = losses[LossReason(loss.reason), default: 0].addingReportingOverflow(loss.points)
            losses[LossReason(loss.reason)] = isTooMany ? .max : sum
        }
        self.init(
            backlog: health.backlog, losses: losses, lossAge: health.hasLossAge ? Int64(health.lossAge) : nil,
            receiver: Receiver(health.receiver), fixAge: health.hasFixAge ? Int64(health.fixAge) : nil,
            isGathering: health.gathering, disk: Disk(health.disk),
            certificateEnd: health.certificateEnd > 0 ? health.certificateEnd : nil, verdict: Verdict(health),
            dates: DateTrouble(health))
    }

    /// The bytes of a `Health` message, about 20 of them.
    package var encoded: [UInt8] {
        // The message has no required fields and no extensions, so encoding cannot fail.
        (try? Health(self).serializedBytes()) ?? []
    }

    /// Nil for bytes that are no `Health` message.
    package init?(encoded bytes: [UInt8]) {
        guard let health = try? Health(serializedBytes: bytes) else { return nil }
        self.init(health)
    }
}

extension DateTrouble {
    fileprivate init?(_ health: Health) {
        if health.clockStands {
            self = .standing(receiver: Timestamp(seconds: health.receiverTime), isClockUsed: health.clockUsed)
        } else if health.timesMissing {
            self = .missing(isClockUsed: health.clockUsed)
        } else if health.receiverTime != 0 || health.clockTime != 0 {
            self = .disagreement(
                receiver: Timestamp(seconds: health.receiverTime), clock: Timestamp(seconds: health.clockTime),
                isClockUsed: health.clockUsed)
        } else if health.usedDate != 0 || health.otherDate != 0 {
            self = .receivers(
                used: Timestamp(seconds: health.usedDate), other: Timestamp(seconds: health.otherDate), device: nil)
        } else {
            return nil
        }
    }
}

extension LossReason {
    fileprivate init(_ reason: HealthReport.LossReason) {
        self =
            switch reason {
            case .bound: .bound
            case .memoryFull: .memoryFull
            case .diskHangs: .diskHangs
            case .damaged: .damaged
            case .copiedDisk: .copiedDisk
            case .refused: .refused
            case .wrongDate: .wrongDate
            case .other: .unspecified
            }
    }
}

extension HealthReport.LossReason {
    fileprivate init(_ reason: LossReason) {
        self =
            switch reason {
            case .bound: .bound
            case .memoryFull: .memoryFull
            case .diskHangs: .diskHangs
            case .damaged: .damaged
            case .copiedDisk: .copiedDisk
            case .refused: .refused
            case .wrongDate: .wrongDate
            case .unspecified, .UNRECOGNIZED: .other
            }
    }
}

extension Receiver {
    fileprivate init(_ receiver: HealthReport.Receiver) {
        self =
            switch receiver {
            case .unknown: .unspecified
            case .off: .off
            case .fix: .fix
            case .noFix: .noFix
            case .away: .away
            case .unreachable: .unreachable
            case .forbidden: .forbidden
            }
    }
}

extension HealthReport.Receiver {
    fileprivate init(_ receiver: Receiver) {
        self =
            switch receiver {
            case .off: .off
            case .fix: .fix
            case .noFix: .noFix
            case .away: .away
            case .unreachable: .unreachable
            case .forbidden: .forbidden
            case .unspecified, .UNRECOGNIZED: .unknown
            }
    }
}

extension Disk {
    fileprivate init(_ disk: HealthReport.Disk) {
        self =
            switch disk {
            case .unknown: .unspecified
            case .ok: .ok
            case .full: .full
            case .readOnly: .readOnly
            case .refusing: .refusing
            }
    }
}

extension HealthReport.Disk {
    fileprivate init(_ disk: Disk) {
        self =
            switch disk {
            case .ok: .ok
            case .full: .full
            case .readOnly: .readOnly
            case .refusing: .refusing
            case .unspecified, .UNRECOGNIZED: .unknown
            }
    }
}

extension HealthReport.Verdict {
    /// Nil: the agent does not say.
    fileprivate init?(_ health: Health) {
        guard health.obstacle != .unspecified else { return nil }
        self.init(
            obstacle: TrackingObstacle(health.obstacle), age: Int64(health.obstacleAge), rejected: health.rejected)
    }
}

extension Obstacle {
    fileprivate init(_ obstacle: TrackingObstacle?) {
        self =
            switch obstacle {
            case nil: .none
            case .serviceStopped: .serviceStopped
            case .gatheringOff: .gatheringOff
            case .noReceiver: .noReceiver
            case .noFix: .noFix
            case .noTime: .noTime
            case .noPlace: .noPlace
            case .clockStands: .clockStands
            case .wrongDate: .wrongDate
            case .notLater: .notLater
            case .unconfirmedTime: .unconfirmedTime
            case .inaccurate: .inaccurate
            case .implausible: .implausible
            case .noPoints: .noPoints
            case .losingPoints: .losingPoints
            case .loginRefused: .loginRefused
            case .certificateEnded: .certificateEnded
            case .other: .other
            }
    }
}

extension TrackingObstacle {
    /// Nil: the vehicle is tracked.
    fileprivate init?(_ obstacle: Obstacle) {
        switch obstacle {
        case .unspecified, .none: return nil
        case .serviceStopped: self = .serviceStopped
        case .gatheringOff: self = .gatheringOff
        case .noReceiver: self = .noReceiver
        case .noFix: self = .noFix
        case .noTime: self = .noTime
        case .noPlace: self = .noPlace
        case .clockStands: self = .clockStands
        case .wrongDate: self = .wrongDate
        case .notLater: self = .notLater
        case .unconfirmedTime: self = .unconfirmedTime
        case .inaccurate: self = .inaccurate
        case .implausible: self = .implausible
        case .noPoints: self = .noPoints
        case .losingPoints: self = .losingPoints
        case .loginRefused: self = .loginRefused
        case .certificateEnded: self = .certificateEnded
        case .other, .UNRECOGNIZED: self = .other
        }
    }
}
