import TrackModel

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
