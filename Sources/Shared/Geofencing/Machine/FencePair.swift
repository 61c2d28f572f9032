package import TrackModel

/// What is remembered of one entity and one fence. A pair that is simply out is not kept.
package struct FencePair: Hashable, Sendable {
    package enum Place: UInt8, Hashable, Sendable, CustomStringConvertible {
        case unknown
        case out
        case `in`

        package var description: String {
            switch self {
            case .unknown: "unknown"
            case .out: "out"
            case .in: "in"
            }
        }
    }

    /// The first sign that the entity came in or left, before it is believed.
    struct Sign: Hashable, Sendable {
        /// The crossing on the way; nil when the way is not known.
        var crossing: Crossing?
        /// The points between which it was.
        var earliest: Timestamp
        var latest: Timestamp
        /// On the way in: the last point was inside. On the way out: the last point was clearly outside.
        var isConfirmable: Bool

        /// What an alarm tells when a point proves the sign.
        func crossing(causedBy point: FencePoint) -> Crossing {
            crossing ?? Crossing(between: earliest, and: latest, causing: point)
        }
    }

    package let fence: Int32
    package var revision: Int32
    /// As it was told.
    package var place: Place
    /// Points that did not decide, while the place is unknown.
    var tries: UInt8 = 0
    /// The crossing's time of the enter, or the first point inside.
    package var since: Timestamp
    var nextStay: Timestamp?
    /// Few pairs are unsettled, and the others are a third as large without it.
    private var unsettled: Unsettled?

    private indirect enum Unsettled: Hashable, Sendable {
        case by(sign: Sign?, held: Crossing?)
    }

    init(fence: Int32, revision: Int32, place: Place, since: Timestamp) {
        self.fence = fence
        self.revision = revision
        self.place = place
        self.since = since
    }

    var sign: Sign? {
        get {
            guard case .by(let sign, _)? = unsettled else { return nil }
            return sign
        }
        set { unsettle(sign: newValue, held: held) }
    }

    /// A change that has not held for long enough to be told.
    var held: Crossing? {
        get {
            guard case .by(_, let held)? = unsettled else { return nil }
            return held
        }
        set { unsettle(sign: sign, held: newValue) }
    }

    private mutating func unsettle(sign: Sign?, held: Crossing?) {
        let isSettled = sign == nil && held == nil
        if isSettled && unsettled == nil { return }
        unsettled = isSettled ? nil : .by(sign: sign, held: held)
    }

    /// Neither a sign nor a change that is held.
    var isSettled: Bool { unsettled == nil }

    /// Where the entity is, told or not.
    var isInside: Bool { isSettled ? place == .in : (place == .in) != (held != nil) }

    /// Another rule counts stays from the same enter. Those that were due at or before a time are not told.
    mutating func countStays(by stay: StayRule?, after time: Timestamp) {
        guard place == .in, let stay else {
            nextStay = nil
            return
        }
        let first = since.adding(milliseconds: Int64(stay.after) * 1000)
        let every = stay.every.map { Int64($0) * 1000 }
        if let nextStay {
            // One that waits because the entity may have left.
            let along = nextStay.milliseconds(since: first)
            if along == 0 { return }
            if let every, along > 0, along % every == 0 { return }
        }
        let passed = time.milliseconds(since: first)
        guard passed >= 0 else {
            nextStay = first
            return
        }
        nextStay = every.map { first.adding(milliseconds: (passed / $0 + 1) * $0) }
    }

    var isWorthKeeping: Bool { place != .out || !isSettled }
}
