import Synchronization
import TrackModel
import TrackStore

/// Keeps tracks that were read, and what was worked out of them, as long as nothing is stored for their entity.
///
/// A page with charts asks for the points, the length, the stays and the driving behaviour of one day within a second. All
/// of them come from one reading of the store, and who asks while it is read waits for that reading.
final class TrackReadCache: Sendable {
    /// What one query gave.
    private struct Kept: Sendable {
        let content: any Sendable
        let version: Int64
        let since: Timestamp
        let bytes: Int
        var used: UInt64
    }

    private struct Flight: Hashable, Sendable {
        let query: AnyQuery
        let version: Int64
    }

    private struct State: Sendable {
        var kept: [AnyQuery: Kept] = [:]
        var bytes = 0
        /// Grows with each use.
        var uses: UInt64 = 0
        /// A `Task` of what the query gives.
        var flights: [Flight: any Sendable] = [:]

        mutating func remove(_ query: AnyQuery) {
            if let gone = kept.removeValue(forKey: query) { bytes -= gone.bytes }
        }
    }

    /// What is to be kept, and how much memory it takes; nil: it must be made anew each time.
    typealias Weight<Content> = @Sendable (Content) -> Int?

    /// Of all that is kept, roughly.
    private let maximumBytes: Int
    static let maximumEntries = 256
    /// Milliseconds. Maps of roads change without a word.
    static let lifetime: Int64 = 600_000

    private let state = Mutex(State())
    /// Whoever reads a track of any length is inside.
    let long = FairSemaphore()

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// What a query gave at this version of its entity, or gives now.
    func content<Content: Sendable>(
        of query: some Hashable & Sendable, at version: Int64, now: Timestamp, weight: @escaping Weight<Content>,
        make: @escaping @Sendable () async throws -> Content
    ) async throws -> Content {
        let key = AnyQuery(query)
        if let kept: Content = kept(key, version, now) { return kept }
        let flight = Flight(query: key, version: version)
        let task = state.withLock { state -> Task<Content, any Error> in
            if let task = state.flights[flight] as? Task<Content, any Error> { return task }
            let task = Task {
                defer { self.state.withLock { $0.flights[flight] = nil } }
                let content = try await make()
                if let bytes = weight(content) { self.keep(content, bytes, key, version, now) }
                return content
            }
            state.flights[flight] = task
            return task
        }
        return try await task.value
    }

    private func kept<Content>(_ key: AnyQuery, _ version: Int64, _ now: Timestamp) -> Content? {
        state.withLock { state in
            guard let kept = state.kept[key] else { return nil }
            guard kept.version == version, (0...Self.lifetime).contains(now.milliseconds(since: kept.since)) else {
                state.remove(key)
                return nil
            }
            state.uses += 1
            state.kept[key]?.used = state.uses
            return kept.content as? Content
        }
    }

    private func keep(
        _ content: some Sendable, _ bytes: Int, _ key: AnyQuery, _ version: Int64, _ now: Timestamp
    ) {
        guard bytes <= maximumBytes else { return }
        state.withLock { state in
            state.remove(key)
            while state.kept.count >= Self.maximumEntries || state.bytes + bytes > maximumBytes,
                let oldest = state.kept.min(by: { $0.value.used < $1.value.used })?.key
            {
                state.remove(oldest)
            }
            state.uses += 1
            state.bytes += bytes
            state.kept[key] = Kept(content: content, version: version, since: now, bytes: bytes, used: state.uses)
        }
    }
}
