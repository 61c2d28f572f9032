import Synchronization
import TrackModel
import TrackStore

/// How much one key may ask of this server. Counts are in memory: they begin anew when the server starts.
struct KeyQuotas: Hashable, Sendable {
    /// Nil: as much as it likes.
    struct Limits: Hashable, Sendable {
        /// Requests in a day of the operator's time zone.
        var daily: Int?
        /// Requests at the same time.
        var concurrent: Int?

        var isNone: Bool { daily == nil && concurrent == nil }
    }

    private let limits: Limits
    private let zoneMinutes: Int
    /// Days since 1970 in that zone, of `asked`.
    private var day: Int64 = .min
    private var asked: [AccessKeyUse: Int] = [:]
    private var underWay: [AccessKeyUse: Int] = [:]

    init(_ limits: Limits, zoneMinutes: Int) {
        (self.limits, self.zoneMinutes) = (limits, zoneMinutes)
    }

    /// A request with a valid key begins. Returns why it may not; nil when it may, and then `end` must follow. A request that
    /// is refused does not count.
    mutating func begin(_ key: AccessKeyUse, at now: Timestamp) -> APIFailure? {
        let local = now.seconds + Int64(zoneMinutes) * 60
        let today = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        // A clock that is set back gives nobody a day more.
        if today > day { (day, asked) = (today, [:]) }
        if let limit = limits.daily, asked[key, default: 0] >= limit {
            return APIFailure(.dailyQuota, "a key may make \(limit) requests a day (daily_quota): ask the operator")
        }
        if let limit = limits.concurrent, underWay[key, default: 0] >= limit {
            return APIFailure(
                .concurrencyQuota, "a key may make \(limit) requests at the same time (concurrent_requests): try again")
        }
        if limits.daily != nil { asked[key, default: 0] += 1 }
        underWay[key, default: 0] += 1
        return nil
    }

    mutating func end(_ key: AccessKeyUse) {
        let left = underWay[key, default: 0] - 1
        underWay[key] = left > 0 ? left : nil
    }
}

/// The quotas of all requests under way.
final class KeyQuotaBook: Sendable {
    private let quotas: Mutex<KeyQuotas>

    init(_ quotas: KeyQuotas) { self.quotas = Mutex(quotas) }

    func begin(_ key: AccessKeyUse, at now: Timestamp) -> APIFailure? { quotas.withLock { $0.begin(key, at: now) } }

    func end(_ key: AccessKeyUse) { quotas.withLock { $0.end(key) } }
}
