internal import TrackModel

/// The stretches of one gap, made few and plain.
struct GapOutline {
    private struct Stretch {
        /// Nil: points could have been made.
        var reason: GapReason?
        /// Nil: since the point before, whichever that is.
        var from: Timestamp?
        var until: Timestamp
        var lostPoints: Int64?
        /// What has joined it, with milliseconds of each reason.
        var joined: [(reason: GapReason?, length: Int64)] = []

        var length: Int64 { from.map { until.milliseconds(since: $0) } ?? .max }

        /// Something happened once and is known for sure: an end of the agent, a command. Other reasons come and go.
        var isEvent: Bool { reason.map { GapOutline.events.contains($0.kind) } ?? false }

        /// Milliseconds of each reason of this stretch and of another one, in the order of time.
        func shares(with other: Stretch) -> [(reason: GapReason?, length: Int64)] {
            var shares: [(reason: GapReason?, length: Int64)] = []
            for part in [self, other] {
                for share in part.joined.isEmpty ? [(part.reason, part.length)] : part.joined {
                    let place = shares.firstIndex { $0.reason == share.0 }
                    guard let place else {
                        shares.append((share.0, share.1))
                        continue
                    }
                    let (sum, overflow) = shares[place].length.addingReportingOverflow(share.1)
                    shares[place].length = overflow ? .max : sum
                }
            }
            return shares
        }

        func isShort(_ least: Int64) -> Bool { length < (isEvent ? min(least, GapOutline.leastEvent) : least) }
    }

    /// Kinds of reasons that each stay apart, however short they are.
    private static let events: Set<GapReason> = [.off, .stopped, .notStarted, .otherEntity]
    /// Milliseconds: points have whole seconds.
    private static let leastEvent: Int64 = 1000

    private var stretches: [Stretch] = []
    private var end: Timestamp?

    /// `since`: the point before; nil when nobody knows it.
    init(_ recalled: [GapSpan], since: Timestamp?) {
        end = since
        for span in recalled { add(span.reason, until: span.until, lostPoints: span.lostPoints) }
    }

    /// What kept points away from the last end to this one; nothing when this end is not later.
    mutating func add(_ reason: GapReason?, until: Timestamp, lostPoints: Int64? = nil) {
        if let end, until <= end { return }
        stretches.append(Stretch(reason: reason, from: end, until: until, lostPoints: lostPoints))
        end = until
    }

    /// At most ``Continuity/maximumSpans``, without holes between them.
    ///
    /// A short stretch without a reason, such as the time to the next due fix, gets the reason of its neighbour. In a long
    /// one the receiver sent nothing. A stretch of fewer than `least` milliseconds joins its shorter neighbour: so reasons that
    /// come and go join each other, and no long stretch takes their time. Of all that has joined, the reason with the most time
    /// is told: the longer one of the last two may be the rarest.
    /// An event, such as a power cut, keeps its own line, and gives its reason to a short stretch that has no other neighbour.
    func spans(least: Int64) -> [GapSpan] {
        var parts = stretches
        for index in parts.indices where parts[index].reason == nil {
            guard parts[index].isShort(least) else {
                parts[index].reason = .noFix
                continue
            }
            let next = parts[index...].first { $0.reason != nil }?.reason
            parts[index].reason = next ?? (index > 0 ? parts[index - 1].reason : .noFix)
        }
        Self.joinEqual(&parts)
        while parts.count > 1, let index = Self.shortestPair(parts, least) {
            Self.join(index, in: &parts, least)
            Self.joinEqual(&parts)
        }
        return parts.map { GapSpan($0.reason ?? .noFix, from: $0.from, until: $0.until, lostPoints: $0.lostPoints) }
    }

    private static func joinEqual(_ parts: inout [Stretch]) {
        var joined: [Stretch] = []
        for part in parts {
            if let last = joined.last, last.reason == part.reason {
                if !last.joined.isEmpty || !part.joined.isEmpty {
                    joined[joined.count - 1].joined = last.shares(with: part)
                }
                joined[joined.count - 1].until = part.until
            } else {
                joined.append(part)
            }
        }
        parts = joined
    }

    /// The first of the two neighbours that must become one; nil when the parts are few and long enough.
    private static func shortestPair(_ parts: [Stretch], _ least: Int64) -> Int? {
        let pairs = 0..<parts.count - 1
        let short = pairs.filter { parts[$0].isShort(least) || parts[$0 + 1].isShort(least) }
        guard !short.isEmpty || parts.count > Continuity.maximumSpans else { return nil }
        func length(_ index: Int) -> Int64 {
            let (sum, overflow) = parts[index].length.addingReportingOverflow(parts[index + 1].length)
            return overflow ? .max : sum
        }
        // A stretch that comes and goes joins its like before it joins an event.
        func isMixed(_ index: Int) -> Bool { parts[index].isEvent != parts[index + 1].isEvent }
        let possible = short.isEmpty ? Array(pairs) : short
        let like = possible.filter { !isMixed($0) }
        return (like.isEmpty ? possible : like).min { length($0) < length($1) }
    }

    private static func join(_ index: Int, in parts: inout [Stretch], _ least: Int64) {
        let (one, other) = (parts[index], parts.remove(at: index + 1))
        let isFirstEvents = one.isEvent && !other.isEvent && other.isShort(least)
        let isOtherEvents = other.isEvent && !one.isEvent && one.isShort(least)
        parts[index].until = other.until
        guard !isFirstEvents, !isOtherEvents else {
            parts[index].reason = isFirstEvents ? one.reason : other.reason
            return parts[index].joined = []
        }
        parts[index].joined = one.shares(with: other)
        // The earliest of several.
        let most = parts[index].joined.map(\.length).max()
        parts[index].reason = parts[index].joined.first { $0.length == most }?.reason
    }
}
