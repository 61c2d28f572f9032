import Synchronization
import TrackModel
import TrackStore

/// One reading of a track, whole: what all pages of its answer have in common.
struct TrackReading: Sendable {
    /// Ascending, without those that the processing leaves out.
    let points: [StoredPoint]
    let distance: TrackDistance
}

/// Keeps the readings whose first page was just handed out, so that the pages that follow come from the same reading.
///
/// A client that turns the pages of a long track gets each point once, whatever is uploaded meanwhile, and the track
/// is read and measured once, not once a page. A first page is always read anew.
final class TrackReadings: Sendable {
    private struct Kept {
        let reading: TrackReading
        let since: Timestamp
    }

    private struct Content {
        var kept: [TrackQuery: Kept] = [:]
        /// Queries, oldest first.
        var order: [TrackQuery] = []
        var points = 0

        mutating func remove(_ query: TrackQuery) {
            guard let gone = kept.removeValue(forKey: query) else { return }
            points -= gone.reading.points.count
            order.removeAll { $0 == query }
        }
    }

    /// Milliseconds in which the next page is expected.
    static let lifetime: Int64 = 15_000
    static let maximumReadings = 64
    /// Points of all readings together: some tens of megabytes.
    static let maximumPoints = 250_000

    private let content = Mutex(Content())

    /// The reading that an earlier page came from; nil when it is too long ago.
    func reading(_ query: TrackQuery, now: Timestamp) -> TrackReading? {
        content.withLock { content in
            guard let kept = content.kept[query] else { return nil }
            guard (0...Self.lifetime).contains(now.milliseconds(since: kept.since)) else {
                content.remove(query)
                return nil
            }
            return kept.reading
        }
    }

    func keep(_ reading: TrackReading, _ query: TrackQuery, now: Timestamp) {
        guard reading.points.count <= Self.maximumPoints else { return }
        content.withLock { content in
            content.remove(query)
            while let oldest = content.order.first,
                content.order.count >= Self.maximumReadings
                    || content.points + reading.points.count > Self.maximumPoints
                    || now.milliseconds(since: content.kept[oldest]?.since ?? now) > Self.lifetime
            {
                content.remove(oldest)
            }
            content.kept[query] = Kept(reading: reading, since: now)
            content.order.append(query)
            content.points += reading.points.count
        }
    }
}
