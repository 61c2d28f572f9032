internal import TrackModel

/// The dates that a receiver's fixes were used with, in stretches of one line each, and which of them turned out to be ahead
/// of the right time, or before this program was made.
///
/// Where no kept clock decides, the date that was believed for longer is right: a receiver that goes wrong for some seconds
/// must not cost the points of an hour. A date before this program was made disproves nothing, and any later one disproves it.
struct DateTrail: Hashable, Sendable {
    private struct Stretch: Hashable {
        /// See ``TimeGuard``. Nil: of the process before.
        var line: Int64?
        var first: Timestamp
        var last: Timestamp
        /// Milliseconds for which fixes came on this line.
        var weight: Int64
        var lastArrival: MonotonicTime
    }

    /// Older stretches are forgotten.
    private static let maximumStretches = 8
    /// Milliseconds between two fixes that count at most.
    private static let longestStep: Int64 = 120_000

    /// The last date that was used.
    private(set) var last: Timestamp?
    /// The present one is the last.
    private var stretches: [Stretch] = []
    private var disproved: [ClosedRange<Timestamp>] = []

    /// `newest`: the last date that the process before used.
    init(newest: Timestamp?) {
        last = newest
        guard let newest else { return }
        // Only certainty disproves what the process before believed.
        let first = Timestamp(milliseconds: .min)
        stretches = [Stretch(line: nil, first: first, last: newest, weight: .max, lastArrival: .distantPast)]
    }

    mutating func takeDisproved() -> [ClosedRange<Timestamp>] {
        defer { disproved = [] }
        return disproved
    }

    /// `isCertain`: a kept clock says the same. `goesBack`: the dates before were too late.
    mutating func used(_ time: Timestamp, line: Int64, _ now: MonotonicTime, isCertain: Bool, goesBack: Bool) {
        let before = last
        enter(line, time, now)
        last = goesBack ? time : max(before ?? time, time)
        guard time.seconds >= SakerVersion.madeAt, let present = stretches.last else { return }
        let limit = time.adding(milliseconds: TimeGuard.smallestReturn)
        stretches.removeAll { stretch in
            guard stretch.last.seconds >= SakerVersion.madeAt else {
                disproved.append(stretch.first...stretch.last)
                return true
            }
            guard stretch.line != present.line, stretch.last > limit, isCertain || present.weight >= stretch.weight
            else {
                return false
            }
            disproved.append(max(stretch.first, time.adding(milliseconds: 1))...stretch.last)
            return true
        }
    }

    private mutating func enter(_ line: Int64, _ time: Timestamp, _ now: MonotonicTime) {
        let index = stretches.lastIndex { stretch in
            stretch.line.map { Timestamp(milliseconds: $0) }.map { TimeGuard.agree($0, Timestamp(milliseconds: line)) }
                ?? false
        }
        guard let index else {
            stretches.append(Stretch(line: line, first: time, last: time, weight: 0, lastArrival: now))
            if stretches.count > Self.maximumStretches { stretches.removeFirst() }
            return
        }
        var stretch = stretches.remove(at: index)
        // Time in which another date was believed does not count.
        if index == stretches.count { stretch.weight += min(max(now - stretch.lastArrival, 0), Self.longestStep) }
        stretch.line = line
        stretch.first = min(stretch.first, time)
        stretch.last = max(stretch.last, time)
        stretch.lastArrival = now
        stretches.append(stretch)
    }
}
