import FoundationEssentials
import TrackModel

/// The system's real-time clock.
enum SystemClock {
    @Sendable static func now() -> Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
