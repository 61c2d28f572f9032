package import TrackModel
package import TrackStore

/// How fast claims and renewals are taken. A value that knows no clock and no store.
///
/// Nobody can guess a token, so the limits are about load. Who shows a token that is good is counted for the token, wherever
/// he comes from: ten thousand boxes of one image behind one address get in, each at a time that it is told. Who shows none
/// is counted for his address, which is slowed hard.
package struct EnrolmentLimits: Sendable {
    package struct Rates: Hashable, Sendable {
        /// Requests without a good token or a known key, for each address.
        var stranger = RequestRate(burst: 10, perMinute: 6)
        /// The same for all addresses of a site, which one stranger may have.
        var site = RequestRate(burst: 200, perMinute: 120)
        /// Claims with one good token, and how many of them may come from one address.
        var token = RequestRate(burst: 200, perMinute: 2400)
        var tokenFromAddress = RequestRate(burst: 100, perMinute: 1200)
        /// Looks into the store whether the token of a stranger is good, when his address has no credit: he may be the
        /// neighbour of one who hammers.
        var look = RequestRate(burst: 60, perMinute: 600)
        /// The longest time that a box is told to wait, in seconds.
        var longestWait: Int64 = 600

        package init() {}
    }

    /// Where a request comes from.
    package struct Origin: Hashable, Sendable {
        /// What one client has: an IPv4 address, or the first 64 bits of an IPv6 address.
        package var address: String
        /// What one customer may have: the first 48 bits of an IPv6 address. Nil for others.
        package var site: String?

        package init(_ address: String, site: String? = nil) {
            (self.address, self.site) = (address, site)
        }
    }

    package enum Answer: Hashable, Sendable {
        case goOn
        /// Only a good token lets this request in: look whether it is, and let it arrive again after ``found(_:from:at:)``.
        /// Otherwise it may come again after so many seconds.
        case needsGoodToken(wait: Int64)
        /// It may come again after so many seconds.
        case wait(Int64)
    }

    /// Addresses that are remembered, and sites.
    static let mostAddresses = 4096
    static let mostSites = 1024
    /// Good tokens that are remembered.
    static let mostTokens = 1024
    /// Milliseconds for which a token counts as good after the store said so.
    static let goodFor: Int64 = 600_000

    private let rates: Rates
    private var addresses: RequestBuckets
    private var sites: RequestBuckets
    private var tokens: [TokenHash: TokenRateLimits] = [:]
    private var looks: RequestBucket?

    package init(_ rates: Rates = Rates()) {
        self.rates = rates
        addresses = RequestBuckets(rates.stranger, most: Self.mostAddresses)
        sites = RequestBuckets(rates.site, most: Self.mostSites)
    }

    /// A claim or a renewal arrives; `token` is nil for a renewal.
    package mutating func arrives(from origin: Origin, token hash: TokenHash?, at now: MonotonicTime) -> Answer {
        if let hash, var turns = tokens[hash], now < turns.goodUntil {
            defer { tokens[hash] = turns }
            return turns.arrives(from: origin.address, at: now).map { .wait($0) } ?? .goOn
        }
        let wait = origin.site.flatMap { sites.wait($0, at: now) } ?? addresses.wait(origin.address, at: now)
        guard let wait else {
            addresses.pay(origin.address, at: now)
            if let site = origin.site { sites.pay(site, at: now) }
            return .goOn
        }
        return hash != nil && mayLook(at: now) ? .needsGoodToken(wait: wait) : .wait(wait)
    }

    /// The store says that the token makes devices: whoever shows it next is counted for it, and this request was no stranger's.
    package mutating func found(_ hash: TokenHash, from origin: Origin, at now: MonotonicTime) {
        if tokens[hash] == nil, tokens.count >= Self.mostTokens,
            let oldest = tokens.min(by: { $0.value.goodUntil < $1.value.goodUntil })
        {
            tokens[oldest.key] = nil
        }
        var turns = tokens[hash] ?? TokenRateLimits(rates, at: now)
        if now >= turns.goodUntil { giveBack(origin) }
        turns.goodUntil = now + Self.goodFor
        tokens[hash] = turns
    }

    /// The token makes no devices, or no more: it was revoked, has ended, or is used up.
    package mutating func lost(_ hash: TokenHash) { tokens[hash] = nil }

    /// The request was that of a device that may have its certificate: it was no stranger's.
    package mutating func foundDevice(from origin: Origin) { giveBack(origin) }

    /// Addresses, sites and tokens that are held in memory.
    var remembered: Int { addresses.count + sites.count + tokens.count }

    private mutating func giveBack(_ origin: Origin) {
        addresses.giveBack(origin.address)
        if let site = origin.site { sites.giveBack(site) }
    }

    private mutating func mayLook(at now: MonotonicTime) -> Bool {
        var bucket = looks ?? RequestBucket(rates.look, at: now)
        bucket.fill(rates.look, at: now)
        defer { looks = bucket }
        guard bucket.canPay else { return false }
        bucket.pay()
        return true
    }
}

/// The turns of those who show one good token, all of them and those of each address.
///
/// One address gets at most half of what there is, so that one who has the token cannot keep out all others.
struct TokenRateLimits: Sendable {
    /// Addresses that are remembered.
    static let mostAddresses = 64

    /// Who comes when.
    private struct Allowance {
        var bucket: RequestBucket
        /// When the next box that is told to wait may come.
        var nextPlace: MonotonicTime

        init(_ rate: RequestRate, at now: MonotonicTime) {
            (bucket, nextPlace) = (RequestBucket(rate, at: now), now)
        }

        /// Seconds. Each gets a place of its own in time, so that they do not all come back at once.
        mutating func place(_ rate: RequestRate, longest: Int64, at now: MonotonicTime) -> Int64 {
            nextPlace = max(nextPlace, now + 1000) + 60_000 / max(1, rate.perMinute)
            if nextPlace - now > longest * 1000 { nextPlace = now + 1000 }
            return (nextPlace - now + 999) / 1000
        }
    }

    var goodUntil: MonotonicTime
    private let rates: EnrolmentLimits.Rates
    private var all: Allowance
    private var addresses: [String: Allowance] = [:]

    init(_ rates: EnrolmentLimits.Rates, at now: MonotonicTime) {
        self.rates = rates
        goodUntil = now
        all = Allowance(rates.token, at: now)
    }

    /// Nil: it is his turn. Otherwise the seconds after which it is.
    mutating func arrives(from address: String, at now: MonotonicTime) -> Int64? {
        all.bucket.fill(rates.token, at: now)
        var own = addresses[address] ?? Allowance(rates.tokenFromAddress, at: now)
        own.bucket.fill(rates.tokenFromAddress, at: now)
        defer { keep(own, address) }
        guard own.bucket.canPay else { return own.place(rates.tokenFromAddress, longest: rates.longestWait, at: now) }
        guard all.bucket.canPay else { return all.place(rates.token, longest: rates.longestWait, at: now) }
        own.bucket.pay()
        all.bucket.pay()
        return nil
    }

    private mutating func keep(_ turns: Allowance, _ address: String) {
        if addresses[address] == nil, addresses.count >= Self.mostAddresses,
            let fullest = addresses.max(by: { $0.value.bucket.credit < $1.value.bucket.credit })
        {
            addresses[fullest.key] = nil
        }
        addresses[address] = turns
    }
}

/// How many requests something may make.
struct RequestRate: Hashable, Sendable {
    /// At once.
    var burst: Int64
    var perMinute: Int64
}

/// Fills with time, up to a burst, and pays for requests.
struct RequestBucket: Hashable, Sendable {
    /// Thousandths of a request.
    private(set) var credit: Int64
    private var filled: MonotonicTime

    init(_ rate: RequestRate, at now: MonotonicTime) {
        credit = rate.burst * 1000
        filled = now
    }

    var canPay: Bool { credit >= 1000 }

    mutating func fill(_ rate: RequestRate, at now: MonotonicTime) {
        // Longer than any burst takes to fill, and short enough for the product.
        let passed = max(0, min(now - filled, 3_600_000))
        let gained = passed * rate.perMinute / 60
        credit = min(rate.burst * 1000, credit + gained)
        // Time that has gained nothing yet counts with the next look.
        if gained > 0 || now < filled { filled = now }
    }

    mutating func pay() { credit -= 1000 }

    mutating func giveBack(_ rate: RequestRate) { credit = min(rate.burst * 1000, credit + 1000) }

    /// Seconds until it can pay.
    func wait(_ rate: RequestRate) -> Int64 { ((1000 - credit) * 60 / max(1, rate.perMinute) + 999) / 1000 }
}

/// A bucket for each of many, of whom so many are remembered. Nobody ever shares a bucket with others: who is nearest to a full
/// one is forgotten first, because that says the least.
struct RequestBuckets: Sendable {
    let rate: RequestRate
    let most: Int
    private var buckets: [String: RequestBucket] = [:]

    init(_ rate: RequestRate, most: Int) {
        (self.rate, self.most) = (rate, most)
    }

    var count: Int { buckets.count }

    /// Nil: it can pay now. Otherwise the seconds until it can.
    func wait(_ name: String, at now: MonotonicTime) -> Int64? {
        guard var bucket = buckets[name] else { return nil }
        bucket.fill(rate, at: now)
        return bucket.canPay ? nil : bucket.wait(rate)
    }

    /// Call it when ``wait(_:at:)`` is nil.
    mutating func pay(_ name: String, at now: MonotonicTime) {
        if buckets[name] == nil { makeRoom(at: now) }
        var bucket = buckets[name] ?? RequestBucket(rate, at: now)
        bucket.fill(rate, at: now)
        bucket.pay()
        buckets[name] = bucket
    }

    mutating func giveBack(_ name: String) { buckets[name]?.giveBack(rate) }

    private mutating func makeRoom(at now: MonotonicTime) {
        guard buckets.count >= most else { return }
        var fullest: (name: String, credit: Int64)?
        for (name, bucket) in buckets {
            var bucket = bucket
            bucket.fill(rate, at: now)
            // A full bucket says nothing that a new one would not say.
            if bucket.credit >= rate.burst * 1000 {
                buckets[name] = nil
            } else if bucket.credit > fullest?.credit ?? .min {
                fullest = (name, bucket.credit)
            }
        }
        if buckets.count >= most, let fullest { buckets[fullest.name] = nil }
    }
}
