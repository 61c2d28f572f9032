/// How a vehicle is, as its agent tells it with its heartbeats.
///
/// What counts points counts since the agent started. Ages are in seconds at the moment of the report, so no clock of the
/// vehicle is believed.
package struct HealthReport: Hashable, Sendable {
    /// Why points are gone. Programs read the raw values, so the raw values never change.
    package enum LossReason: String, Hashable, Sendable, CaseIterable {
        /// The cache was full: the oldest points were dropped.
        case bound
        /// The disk did not work, and memory was full.
        case memoryFull = "memory_full"
        /// The disk did not answer.
        case diskHangs = "disk_hangs"
        /// The disk changed what was written, or could not read it.
        case damaged
        /// Another vehicle uses the stream.
        case copiedDisk = "copied_disk"
        /// Cache or server refused the points, because these break a rule.
        case refused
        /// Their date turned out to be wrong: the receiver, or a clock that is kept, corrected it.
        case wrongDate = "wrong_date"
        /// A reason that this program does not know.
        case other
    }

    package enum Receiver: String, Hashable, Sendable, CaseIterable {
        case unknown
        /// Nobody wants positions.
        case off
        /// The last epoch had a position.
        case fix
        /// There is a receiver, without a position.
        case noFix = "no_fix"
        /// gpsd has no receiver: unplugged, broken, or another device.
        case away
        /// gpsd does not answer.
        case unreachable
        /// The agent may not ask gpsd, or gpsd may not open the receiver.
        case forbidden
    }

    /// What the disk does with new points. With all but `ok` they are in memory, and lost with the power.
    package enum Disk: String, Hashable, Sendable, CaseIterable {
        case unknown
        case ok
        case full
        case readOnly = "read_only"
        /// Another error.
        case refusing
    }

    /// What the agent says of itself: whether the vehicle is tracked.
    package struct Verdict: Hashable, Sendable {
        /// Nil: the vehicle is tracked.
        package var obstacle: TrackingObstacle?
        /// Seconds since the obstacle began, 0 or more; 0 without an obstacle.
        package var age: Int64
        /// Fixes that the obstacle rejected since the last point.
        package var rejected: UInt64

        package init(obstacle: TrackingObstacle? = nil, age: Int64 = 0, rejected: UInt64 = 0) {
            (self.obstacle, self.age, self.rejected) = (obstacle, age, rejected)
        }
    }

    /// Points that wait on the vehicle for an acknowledgement.
    package var backlog: UInt64
    /// Points that the server will never get. No reason stands with 0 points.
    package var losses: [LossReason: UInt64]
    /// Seconds since points were lost last, 0 or more; nil: none was.
    package var lossAge: Int64?
    package var receiver: Receiver
    /// Seconds since the receiver's newest fix, 0 or more; nil: there was none.
    package var fixAge: Int64?
    /// Whether the agent is to make points.
    package var isGathering: Bool
    package var disk: Disk
    /// The end of the agent's certificate, seconds since 1970 UTC; nil: it has none, or does not know.
    package var certificateEnd: Int64?
    /// Nil: of an agent that does not judge.
    package var verdict: Verdict?
    /// What is wrong with the receiver's dates; nil: nothing.
    package var dates: DateTrouble?

    package init(
        backlog: UInt64 = 0, losses: [LossReason: UInt64] = [:], lossAge: Int64? = nil, receiver: Receiver = .unknown,
        fixAge: Int64? = nil, isGathering: Bool = false, disk: Disk = .unknown, certificateEnd: Int64? = nil,
        verdict: Verdict? = nil, dates: DateTrouble? = nil
    ) {
        self.backlog = backlog
        self.losses = losses.filter { $0.value > 0 }
        self.lossAge = lossAge
        self.receiver = receiver
        self.fixAge = fixAge
        self.isGathering = isGathering
        self.disk = disk
        self.certificateEnd = certificateEnd
        self.verdict = verdict
        self.dates = dates
    }

    /// Points lost for any reason.
    package var lost: UInt64 {
        losses.values.reduce(0) { sum, points in
            let (total, isTooMany) = sum.addingReportingOverflow(points)
            return isTooMany ? .max : total
        }
    }

    /// Whether the report differs from an earlier one in something that is sent at once. Numbers that grow all the time wait for
    /// the next heartbeat.
    package func isUrgent(after other: HealthReport) -> Bool {
        receiver != other.receiver || isGathering != other.isGathering || disk != other.disk
            || certificateEnd != other.certificateEnd || Set(losses.keys) != Set(other.losses.keys)
            || verdict?.obstacle != other.verdict?.obstacle
            || datesDiffer(from: other)
    }

    private func datesDiffer(from other: HealthReport) -> Bool {
        guard let dates, let others = other.dates else { return (dates == nil) != (other.dates == nil) }
        return !dates.isLike(others)
    }
}

/// What keeps a point that is gathered now from reaching the server until a person helps. Programs read the raw values, so the raw
/// values never change.
package enum TrackingObstacle: String, Hashable, Sendable, CaseIterable {
    /// Somebody has stopped the service, or nobody has started it.
    case serviceStopped = "service_stopped"
    /// Somebody has stopped gathering, or nobody has started it.
    case gatheringOff = "gathering_off"
    /// gpsd does not answer, has no receiver, may not be asked, or its receiver sends nothing.
    case noReceiver = "no_receiver"
    /// The receiver has no position, and no point was made for a while.
    case noFix = "no_fix"
    /// The receiver's fixes have no time.
    case noTime = "no_time"
    /// The receiver's reports have no place, or none on the earth.
    case noPlace = "no_place"
    /// The receiver tells the same time again and again.
    case clockStands = "clock_stands"
    /// The receiver's date and the computer's clock disagree.
    case wrongDate = "wrong_date"
    /// The fixes are not later than the last point.
    case notLater = "not_later"
    /// The fixes are dated far ahead, and the fixes that follow do not confirm this.
    case unconfirmedTime = "unconfirmed_time"
    /// The error of the fixes is larger than the desired accuracy.
    case inaccurate
    /// The vehicle cannot have come to the places of the fixes.
    case implausible
    /// Fixes come, and no point stands in the cache.
    case noPoints = "no_points"
    /// Points are lost now.
    case losingPoints = "losing_points"
    /// The connection is refused until a person helps: by the server, or by this vehicle.
    case loginRefused = "login_refused"
    /// The vehicle's own certificate has ended.
    case certificateEnded = "certificate_ended"
    /// An obstacle that this program does not know.
    case other
}
