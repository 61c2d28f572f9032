import Geodesy
import Geofencing
import TrackModel
import TrackStore

/// The fences over everyone of some services, as the logins of vehicles need them: read once for each of their versions, and
/// shared by all who ask meanwhile.
actor EveryonesFences {
    /// The fences as they were at a version.
    struct Shelf: Sendable {
        let version: Int64
        /// In the order of their numbers.
        let fences: [WatchedFence]
        let bytes: Int
    }

    private let store: any FenceStore
    private let most: Int
    /// The one that was asked for last is last.
    private var shelves: [(service: ServiceID, shelf: Shelf)] = []
    private var reading: [ServiceID: Task<Result<Shelf, TrackStoreError>, Never>] = [:]
    private let tell: @Sendable (ServiceID, [UnreadableFence]) -> Void
    private let executor: (any TaskExecutor)?

    /// `mostBytes`: of all services together, about; the fences of a service with more are read for each question. `tell`
    /// hears of fences that cannot be read.
    init(
        _ store: any FenceStore, mostBytes: Int = 256 << 20, executor: (any TaskExecutor)? = nil,
        tell: @escaping @Sendable (ServiceID, [UnreadableFence]) -> Void = { _, _ in }
    ) {
        self.store = store
        self.executor = executor
        most = mostBytes
        self.tell = tell
    }

    /// The fences of a service over everyone, as they are at this version or at a later one.
    func fences(of service: ServiceID, atLeast version: Int64) async throws(TrackStoreError) -> Shelf {
        while true {
            let known = shelf(of: service)
            if let known, known.version >= version { return known }
            let task = reading[service] ?? read(service, after: known)
            let shelf = try await task.value.get()
            // Somebody else may have begun to read before this version was made.
            if shelf.version >= version { return shelf }
        }
    }

    /// It is no part of who asks: others wait for it too.
    private func read(_ service: ServiceID, after known: Shelf?) -> Task<Result<Shelf, TrackStoreError>, Never> {
        let (store, tell) = (store, tell)
        let task = Task(executorPreference: executor) { [self] in
            let result = await Self.read(service, known, store, tell)
            // Before anybody hears of the end, so that nobody waits for it again.
            await ended(result, of: service)
            return result
        }
        reading[service] = task
        return task
    }

    private func ended(_ result: Result<Shelf, TrackStoreError>, of service: ServiceID) {
        reading[service] = nil
        if case .success(let shelf) = result { keep(shelf, of: service) }
    }

    private func shelf(of service: ServiceID) -> Shelf? {
        guard let index = shelves.lastIndex(where: { $0.service == service }) else { return nil }
        shelves.append(shelves.remove(at: index))
        return shelves.last?.shelf
    }

    private func keep(_ shelf: Shelf, of service: ServiceID) {
        shelves.removeAll { $0.service == service }
        shelves.append((service, shelf))
        var bytes = shelves.reduce(0) { $0 + $1.shelf.bytes }
        while bytes > most, let oldest = shelves.first {
            bytes -= oldest.shelf.bytes
            shelves.removeFirst()
        }
    }

    /// Services whose fences are kept.
    var count: Int { shelves.count }

    // MARK: Reading

    private static func read(
        _ service: ServiceID, _ known: Shelf?, _ store: any FenceStore,
        _ tell: @Sendable (ServiceID, [UnreadableFence]) -> Void
    ) async -> Result<Shelf, TrackStoreError> {
        do throws(TrackStoreError) {
            let (shelf, unreadable) = try await shelf(of: service, after: known, store)
            if !unreadable.isEmpty { tell(service, unreadable) }
            return .success(shelf)
        } catch {
            return .failure(error)
        }
    }

    private static func shelf(
        of service: ServiceID, after known: Shelf?, _ store: any FenceStore
    ) async throws(TrackStoreError) -> (Shelf, [UnreadableFence]) {
        if let known {
            // No fence names nobody: only fences over everyone concern this entity.
            let nobody = EntityKey(service: service, name: "")
            let difference = try await store.fenceDifference(of: nobody, since: known.version)
            if let changes = difference.changes {
                return (Self.shelf(known.fences, changes, difference.version), difference.unreadable)
            }
        }
        // What changes while the fences are read has a later version, and comes with the difference to this one.
        let version = try await store.fences(naming: []).version
        let everyones = FenceFilter(watch: .everyone)
        let found = try await store.allReadableFences(in: service, matching: everyones, atOnce: 5000)
        let fences = found.fences.compactMap { record in
            record.everyoneSince.map { WatchedFence(record: record, since: $0) }
        }
        return (shelf(fences, [], version), found.unreadable)
    }

    private static func shelf(
        _ fences: [WatchedFence], _ changes: [FenceDifference.Change], _ version: Int64
    ) -> Shelf {
        var fences = fences
        if !changes.isEmpty {
            let gone = Set(changes.map(\.fence))
            fences.removeAll { gone.contains($0.record.fence.id) }
            fences += changes.compactMap(\.present)
            fences.sort { $0.record.fence.id < $1.record.fence.id }
        }
        return Shelf(version: version, fences: fences, bytes: fences.reduce(0) { $0 + $1.bytes })
    }
}

extension WatchedFence {
    /// Of memory, about: the fence, its vertices as they were given and as they are judged, its texts.
    fileprivate var bytes: Int {
        let definition = record.fence.definition
        let texts = definition.reactions.reduce(definition.name.utf8.count) { $0 + $1.parameters.utf8.count }
        return 800 + 24 * definition.shape.vertexCount + texts + (definition.origin?.attributes.utf8.count ?? 0)
    }
}
