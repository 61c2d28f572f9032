import Synchronization
package import TrackStore

/// What became of claims and renewals, for monitoring.
package final class EnrolmentCounters: Sendable {
    package enum Outcome: Hashable, Sendable {
        /// A new device got its certificate.
        case issued
        /// A device that the server knew claimed again.
        case again
        /// A person must approve the device; its later questions count too.
        case pending
        case renewed
        case refused(EnrolmentRefusal.Code)

        package var name: String {
            switch self {
            case .issued: "issued"
            case .again: "again"
            case .pending: "pending"
            case .renewed: "renewed"
            case .refused(let code): code.rawValue
            }
        }

        package static let all: [Outcome] =
            [.issued, .again, .pending, .renewed] + EnrolmentRefusal.Code.allCases.map { .refused($0) }
    }

    private let state = Mutex<[Outcome: UInt64]>([:])

    package init() {}

    package func count(_ outcome: Outcome) { state.withLock { $0[outcome, default: 0] &+= 1 } }

    /// Every outcome is there.
    package var counts: [(outcome: Outcome, count: UInt64)] {
        let known = state.withLock { $0 }
        return Outcome.all.map { ($0, known[$0] ?? 0) }
    }
}
