import Synchronization
import TrackModel

/// Keeps the whole of a long answer after its first page, so that the later pages are cut from the same answer.
///
/// A client that turns the pages gets each item once, whatever is uploaded meanwhile, and the store is read once, not
/// once a page. A first page is always read anew. All endpoints share one cache, and with it one bound of memory.
final class PageCache: Sendable {
    private struct Kept: Sendable {
        let content: any Sendable
        let items: Int
        let since: Timestamp
    }

    private struct Content: Sendable {
        var kept: [AnyQuery: Kept] = [:]
        /// Oldest first.
        var order: [AnyQuery] = []
        var items = 0

        mutating func remove(_ key: AnyQuery) {
            guard let gone = kept.removeValue(forKey: key) else { return }
            items -= gone.items
            order.removeAll { $0 == key }
        }
    }

    /// Milliseconds in which the next page is expected.
    static let lifetime: Int64 = 15_000
    static let maximumEntries = 64
    /// Items of all entries together: the points of the longest track, which take some tens of megabytes.
    static let maximumItems = WebAPIOptions.mostLongPoints

    private let content = Mutex(Content())

    /// The whole answer from which the first page of this query was cut; nil when that is too long ago.
    func content<Kept>(of query: some Hashable & Sendable, as type: Kept.Type = Kept.self, now: Timestamp) -> Kept? {
        let key = AnyQuery(query)
        return content.withLock { content in
            guard let kept = content.kept[key] else { return nil }
            guard (0...Self.lifetime).contains(now.milliseconds(since: kept.since)) else {
                content.remove(key)
                return nil
            }
            return kept.content as? Kept
        }
    }

    /// `items`: the size of `kept`, such as its points.
    func keep(_ kept: some Sendable, items: Int, of query: some Hashable & Sendable, now: Timestamp) {
        guard items <= Self.maximumItems else { return }
        let key = AnyQuery(query)
        content.withLock { content in
            content.remove(key)
            while let oldest = content.order.first,
                content.order.count >= Self.maximumEntries || content.items + items > Self.maximumItems
                    || now.milliseconds(since: content.kept[oldest]?.since ?? now) > Self.lifetime
            {
                content.remove(oldest)
            }
            content.kept[key] = Kept(content: kept, items: items, since: now)
            content.order.append(key)
            content.items += items
        }
    }
}

/// A request as the key of a table: requests of different types differ.
struct AnyQuery: Hashable, Sendable {
    private let query: any Hashable & Sendable

    init(_ query: some Hashable & Sendable) {
        self.query = query
    }

    static func == (left: Self, right: Self) -> Bool {
        func isRight<Query: Hashable>(_ query: Query) -> Bool { right.query as? Query == query }
        return isRight(left.query)
    }

    func hash(into hasher: inout Hasher) { query.hash(into: &hasher) }
}
