import TrackModel

/// The turns of those who show one good token, all of them and those of each address.
///
/// One address gets at most half of what there is, so that one who has the token cannot keep out all others.
struct TokenTurns: Sendable {
    /// Addresses that are remembered.
    static let mostAddresses = 64

    /// Who comes when.
    private struct Turns {
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
    private var all: Turns
    private var addresses: [String: Turns] = [:]

    init(_ rates: EnrolmentLimits.Rates, at now: MonotonicTime) {
        self.rates = rates
        goodUntil = now
        all = Turns(rates.token, at: now)
    }

    /// Nil: it is his turn. Otherwise the seconds after which it is.
    mutating func arrives(from address: String, at now: MonotonicTime) -> Int64? {
        all.bucket.fill(rates.token, at: now)
        var own = addresses[address] ?? Turns(rates.tokenFromAddress, at: now)
        own.bucket.fill(rates.tokenFromAddress, at: now)
        defer { keep(own, address) }
        guard own.bucket.canPay else { return own.place(rates.tokenFromAddress, longest: rates.longestWait, at: now) }
        guard all.bucket.canPay else { return all.place(rates.token, longest: rates.longestWait, at: now) }
        own.bucket.pay()
        all.bucket.pay()
        return nil
    }

    private mutating func keep(_ turns: Turns, _ address: String) {
        if addresses[address] == nil, addresses.count >= Self.mostAddresses,
            let fullest = addresses.max(by: { $0.value.bucket.credit < $1.value.bucket.credit })
        {
            addresses[fullest.key] = nil
        }
        addresses[address] = turns
    }
}
