/// What an operator should do something about, the worst first.
package enum VehicleTrouble: Hashable, Sendable {
    /// Two computers are this device, so neither may log in. Noticed last at this time.
    case cloned(Timestamp)
    /// Points are gone for good, and lately. `points`: since the agent started; `reason`: the one with the most points.
    case losing(HealthReport.LossReason, points: UInt64)
    /// New points are in memory only.
    case disk(HealthReport.Disk)
    /// No receiver, although the agent is to make points.
    case receiver(HealthReport.Receiver)
    /// The connection is refused until a person helps. Only the vehicle knows this.
    case refused
    /// Gathering, and no points for so many seconds, for this reason. `rejected`: fixes that made no point since the last one.
    case noPoints(TrackingObstacle, rejected: UInt64, seconds: Int64)
    /// Somebody has stopped gathering or the service, or nobody has started it; nil: nobody knows since when.
    case notGathering(since: Timestamp?, isServiceStopped: Bool)
    /// The receiver's date and the computer's clock disagree, or two receivers do, although the agent is to make points.
    case dates(DateTrouble)
    /// Not heard for so many seconds, and it had not said goodbye.
    case silent(Int64)
    /// Seconds until the certificate ends; negative: it has ended.
    case certificate(Int64)
    /// So many points wait on the vehicle although it is connected.
    case behind(UInt64)
    /// No position for so many seconds, although the agent is to make points; nil: none since the agent started.
    case noFix(Int64?)

    /// What one kind of trouble is called. Programs read the raw values, so the raw values never change.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case cloned
        case losing = "losing_points"
        case disk
        case receiver
        case refused = "login_refused"
        case noPoints = "no_points"
        case notGathering = "not_gathering"
        case dates
        case silent
        case certificate
        case behind
        case noFix = "no_fix"
    }

    package var kind: Kind {
        switch self {
        case .cloned: .cloned
        case .losing: .losing
        case .disk: .disk
        case .receiver: .receiver
        case .refused: .refused
        case .noPoints: .noPoints
        case .notGathering: .notGathering
        case .dates: .dates
        case .silent: .silent
        case .certificate: .certificate
        case .behind: .behind
        case .noFix: .noFix
        }
    }
}
