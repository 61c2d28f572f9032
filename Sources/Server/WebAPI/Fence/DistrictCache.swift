import FenceFiles
import Synchronization
import TrackStore

/// The names of all districts, read again only when an import has changed them.
final class DistrictCache: Sendable {
    struct Known: Sendable {
        var version: Int64
        var names: DistrictNames
        /// By the numbers of `names`.
        var ids: [Int64]
    }

    private let known = Mutex<Known?>(nil)

    /// As the store has them now.
    func current(_ store: any DistrictStore) async throws(TrackStoreError) -> Known {
        let last = known.withLock { $0 }
        let (version, entries) = try await store.districts(unless: last?.version)
        if let last, entries == nil { return last }
        let found = entries ?? []
        let numbers = Dictionary(uniqueKeysWithValues: found.enumerated().map { ($0.element.id, $0.offset) })
        let names = DistrictNames(
            found.map { DistrictNames.Entry(name: $0.name, parent: $0.parent.flatMap { numbers[$0] }) })
        let read = Known(version: version, names: names, ids: found.map(\.id))
        known.withLock { $0 = read }
        return read
    }
}
