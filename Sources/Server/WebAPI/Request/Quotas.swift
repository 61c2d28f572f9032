import ConnectionLimits
import Geofencing
import Synchronization
import TrackModel
import TrackStore

/// How fast one sender may change what the store keeps for 30 days after the change (a fence as it was, and whom it watched), and
/// how fast it may remove entities and columns, because the log has a line for each removal. Without a bound, a sender with few
/// fences and entities fills the disk by changing one fence, or by making and removing one entity, again and again. Counts are in
/// memory: they begin anew when the server starts. Knows no clock.
struct ChangeQuotas: Sendable {
    enum Sender: Hashable, Sendable {
        /// All access keys of a service.
        case keys(ServiceID)
        /// The calls of one vehicle's sessions: also those that change its entity.
        case vehicle(EntityKey)

        init(_ caller: Caller) {
            self =
                caller.entity.map { .vehicle(EntityKey(service: caller.service, name: $0)) } ?? .keys(caller.service)
        }
    }

    /// In units: a change takes one, and ``Geofencing/FenceDefinition/changeUnits`` of the fence that it makes.
    struct Limit: Hashable, Sendable {
        var atOnce: Int
        /// Milliseconds for one more.
        var interval: Int64
    }

    /// 80,000 fences of 100 vertices at once, and 432,000 changes of circles a day.
    static let keys = Limit(atOnce: 1_000_000, interval: 200)
    /// Each of 100 fences twenty times at once, and 17,280 changes a day.
    static let vehicle = Limit(atOnce: 2000, interval: 5000)

    /// Senders whose whole quota is not there. Beyond, those who have used least are forgotten.
    private let mostSenders: Int
    private var buckets: [Sender: RateBucket] = [:]

    init(mostSenders: Int = 10_000) { self.mostSenders = mostSenders }

    var count: Int { buckets.count }

    static func limit(of sender: Sender) -> Limit {
        switch sender {
        case .keys: keys
        case .vehicle: vehicle
        }
    }

    /// A change begins, for one unit. Returns the seconds until the sender may make it, or nil when he may now.
    mutating func begin(_ sender: Sender, at now: Timestamp) -> Int64? {
        let limit = Self.limit(of: sender)
        let wait = bucket(of: sender, at: now).wait(of: limit.atOnce, each: limit.interval)
        guard wait == 0 else { return (wait + 999) / 1000 }
        charge(1, to: sender, at: now)
        return nil
    }

    /// A change was made that takes further units. It may take more than there is: then the next one waits for longer.
    mutating func charge(_ units: Int, to sender: Sender, at now: Timestamp) {
        guard units > 0 else { return }
        if buckets[sender] == nil, buckets.count >= mostSenders { makeRoom(at: now) }
        var bucket = bucket(of: sender, at: now)
        bucket.spend(units, each: Self.limit(of: sender).interval)
        buckets[sender] = bucket
    }

    private func bucket(of sender: Sender, at now: Timestamp) -> RateBucket {
        var bucket = buckets[sender] ?? RateBucket(at: now)
        bucket.pass(to: now)
        return bucket
    }

    private mutating func makeRoom(at now: Timestamp) {
        for sender in buckets.keys { buckets[sender]?.pass(to: now) }
        buckets = buckets.filter { !$0.value.isWhole }
        guard buckets.count >= mostSenders else { return }
        for (sender, _) in buckets.sorted(by: { $0.value < $1.value }).prefix(mostSenders / 10) {
            buckets[sender] = nil
        }
    }
}

/// The quotas of all requests under way.
final class ChangeLimiter: Sendable {
    private let quotas = Mutex(ChangeQuotas())

    /// Returns why the caller may not change anything now.
    func begin(_ caller: Caller, at now: Timestamp) -> APIFailure? {
        let sender = ChangeQuotas.Sender(caller)
        guard let wait = quotas.withLock({ $0.begin(sender, at: now) }) else { return nil }
        let limit = ChangeQuotas.limit(of: sender)
        let who =
            switch sender {
            case .keys: "the keys of this service have"
            case .vehicle: "this vehicle has"
            }
        return APIFailure(
            .concurrencyQuota,
            "\(who) made too many changes (\(limit.atOnce) at once, then one each \(limit.interval) ms; 512 bytes of a fence"
                + " count as one, and a large fence as 8 more): try again in \(wait) s, and give many names in one call"
        )
    }

    func charge(_ units: Int, to caller: Caller, at now: Timestamp) {
        quotas.withLock { $0.charge(units, to: ChangeQuotas.Sender(caller), at: now) }
    }
}

extension Endpoint {
    /// Before the call begins. Points have bounds of their own. An entity, a column and a URL of the operator's have one place
    /// each, and their changes leave nothing behind; but each removal leaves a line in the log.
    func beginChange(_ caller: Caller, _ changes: ChangeLimiter, at now: Timestamp) throws(APIFailure) {
        let isLimited = caller.entity == nil ? path.hasPrefix("fence/") : !path.hasPrefix("track/")
        guard scope == .write, isLimited || path.contains("/delete") else { return }
        if let refusal = changes.begin(caller, at: now) { throw refusal }
    }
}

extension APICall {
    /// What was made takes its bytes again when it is changed or removed. `former`: whom the fence watched before. Each of them
    /// that it watches no more has a row for 30 days, of some 300 bytes.
    func charge(for fence: FenceDefinition, watching former: FenceSubjects = .nobody) {
        let gone = Set(former.entities).subtracting(fence.watch.entities).count
        changes.charge(fence.changeUnits + (gone * 300 + 511) / 512, to: caller, at: now)
    }
}

extension FenceDefinition {
    /// What a change that makes this fence takes beside its one unit: about what the store keeps of the fence for 30 days, in
    /// steps of 512 bytes. The copy of a large fence has a page of 4096 bytes for itself, from some 60 vertices on.
    var changeUnits: Int {
        // The copy has no names.
        var copy = self
        copy.watch = .nobody
        return encodedCount / 512 + (copy.encodedCount < 768 ? 0 : 8)
    }
}

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
final class KeyQuotaTable: Sendable {
    private let quotas: Mutex<KeyQuotas>

    init(_ quotas: KeyQuotas) { self.quotas = Mutex(quotas) }

    func begin(_ key: AccessKeyUse, at now: Timestamp) -> APIFailure? { quotas.withLock { $0.begin(key, at: now) } }

    func end(_ key: AccessKeyUse) { quotas.withLock { $0.end(key) } }
}
