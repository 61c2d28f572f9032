package import TrackModel

/// A stretch of a track without gathered points, and why.
package struct TrackGap: Hashable, Sendable {
    package var reason: GapReason
    package var from: Timestamp
    package var until: Timestamp
    /// How many points of the time were gathered and lost; nil: none, or nobody counted.
    package var lostPoints: Int64?

    package init(_ reason: GapReason, from: Timestamp, until: Timestamp, lostPoints: Int64? = nil) {
        self.reason = reason
        self.from = from
        self.until = until
        self.lostPoints = lostPoints
    }

    /// False: the point that ends the gap does not know when it began, and no point before was given. Of a vehicle's first
    /// point of all, this is no gap: there was no vehicle.
    package var hasKnownStart: Bool { from.milliseconds != .min }

    /// The part from `first` to `last`; nil when the gap lies elsewhere.
    package func clipped(from first: Timestamp, until last: Timestamp) -> TrackGap? {
        var part = self
        part.from = max(from, first)
        part.until = min(until, last)
        return part.from < part.until ? part : nil
    }
}

/// Finds the gaps of a track and their reasons, point by point. Decision: docs/decisions/0021-gaps.md.
///
/// Only points that an agent gathered and that say so (`TrackPoint.continuity`) count: other points neither end a gap nor
/// make one. What the later point of a gap says is believed for the time between the two points. What it says nothing of
/// was gathered on the vehicle, and is gone.
package struct GapFinder: Sendable {
    /// In the order of time. The first one begins with `Timestamp.min` when the track before it was not given and its
    /// beginning is not known otherwise.
    package private(set) var gaps: [TrackGap] = []
    /// The last gathered point.
    package private(set) var last: (time: Timestamp, tolerance: Int64)?
    /// The last point of a program, while there is no gathered one.
    private var lastOther: Timestamp?

    package init() {}

    /// `point`: later than those before it.
    package mutating func add(_ point: TrackPoint) {
        let time = point.fix.time
        guard let continuity = point.continuity else {
            lastOther = time
            return
        }
        let before = last?.time ?? lastOther
        last = (time, continuity.tolerance)
        if let before, time.milliseconds(since: before) <= continuity.tolerance { return }
        fill(from: before, until: time, continuity.spans, least: continuity.tolerance / 2)
    }

    /// `start`: the point before; nil: it was not given.
    private mutating func fill(from start: Timestamp?, until end: Timestamp, _ spans: [GapSpan], least: Int64) {
        let earliest = start ?? Timestamp(milliseconds: .min)
        var told: [TrackGap] = []
        for span in spans where !span.reason.isLoss {
            let gap = TrackGap(span.reason, from: span.from ?? earliest, until: span.until, lostPoints: span.lostPoints)
            guard let part = gap.clipped(from: told.last?.until ?? earliest, until: end) else { continue }
            told.append(part)
        }
        // Without the point before, nobody knows whether anything is missing before the first span.
        var edge = start ?? told.first?.from ?? end
        for var gap in told {
            if gap.from.milliseconds(since: edge) > least {
                addLoss(from: edge, until: gap.from, spans)
            } else {
                gap.from = min(gap.from, edge)
            }
            edge = gap.until
            gaps.append(gap)
        }
        guard edge < end else { return }
        if end.milliseconds(since: edge) <= least, !told.isEmpty {
            gaps[gaps.count - 1].until = end
        } else {
            addLoss(from: edge, until: end, spans)
        }
    }

    private mutating func addLoss(from start: Timestamp, until end: Timestamp, _ spans: [GapSpan]) {
        let before = gaps.count
        for span in spans where span.reason.isLoss {
            let gap = TrackGap(span.reason, from: span.from ?? start, until: span.until, lostPoints: span.lostPoints)
            if let part = gap.clipped(from: start, until: end) { gaps.append(part) }
        }
        if gaps.count == before { gaps.append(TrackGap(.lost, from: start, until: end)) }
    }
}
