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

        var length: Int64 { from.map { until.milliseconds(since: $0) } ?? .max }
    }

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
    /// one the receiver sent nothing. A stretch of fewer than `least` milliseconds joins its shorter neighbour, and the longer
    /// one of the two gives the reason: so reasons that come and go join each other, and no long stretch takes their time.
    func spans(least: Int64) -> [GapSpan] {
        var parts = stretches
        for index in parts.indices where parts[index].reason == nil {
            guard parts[index].length < least else {
                parts[index].reason = .noFix
                continue
            }
            let next = parts[index...].first { $0.reason != nil }?.reason
            parts[index].reason = next ?? (index > 0 ? parts[index - 1].reason : .noFix)
        }
        Self.joinEqual(&parts)
        while parts.count > 1, let index = Self.shortestPair(parts, least) {
            Self.join(index, in: &parts)
            Self.joinEqual(&parts)
        }
        return parts.map { GapSpan($0.reason ?? .noFix, from: $0.from, until: $0.until, lostPoints: $0.lostPoints) }
    }

    private static func joinEqual(_ parts: inout [Stretch]) {
        var joined: [Stretch] = []
        for part in parts {
            if let last = joined.last, last.reason == part.reason {
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
        let short = pairs.filter { min(parts[$0].length, parts[$0 + 1].length) < least }
        guard !short.isEmpty || parts.count > Continuity.maximumSpans else { return nil }
        func length(_ index: Int) -> Int64 {
            let (sum, overflow) = parts[index].length.addingReportingOverflow(parts[index + 1].length)
            return overflow ? .max : sum
        }
        return (short.isEmpty ? Array(pairs) : short).min { length($0) < length($1) }
    }

    private static func join(_ index: Int, in parts: inout [Stretch]) {
        let (one, other) = (parts[index], parts.remove(at: index + 1))
        parts[index].reason = one.length >= other.length ? one.reason : other.reason
        parts[index].until = other.until
    }
}
