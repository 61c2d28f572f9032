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
    private var tokens: [TokenHash: TokenTurns] = [:]
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
        var turns = tokens[hash] ?? TokenTurns(rates, at: now)
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
