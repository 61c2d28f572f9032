import SQLDatabase
import StoreRecords
import Synchronization
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func openStream(
        _ stream: StreamID, of entity: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> StreamClaim {
        let opening = StreamOpening(stream: stream, entity: EntityKey(service: service, name: entity), time: now)
        // What is scheduled before the store is closed still runs: closing waits for the writer's queue.
        try isClosed.withLock { isClosed throws(TrackStoreError) in
            guard !isClosed else { throw closedError }
            if openings.add(opening) { openStreams() }
        }
        return try await opening.claim()
    }

    /// Opens all waiting streams in one transaction when the writer is free. The writer's own queue answers the group:
    /// no caller's task does, because a caller who is cancelled must leave nobody else waiting.
    private func openStreams() {
        let taken = TakenOpenings()
        database.enqueueWrite { database in
            try self.checkFiles()
            try self.records.known.withLock { try $0.begin(database) }
            let group = self.openings.take()
            taken.hold(group)
            var transaction = try OpeningTransaction(database, self)
            let results = try group.map { try transaction.open($0) }
            try transaction.save()
            return results
        } completion: { result in
            switch result {
            case .success(let results):
                do throws(TrackStoreError) {
                    try self.checkFiles()
                } catch {
                    for opening in taken.all { opening.answer(.failure(error)) }
                    return
                }
                for (opening, result) in zip(taken.all, results) { opening.answer(result) }
            case .failure(let error):
                // A transaction that did not even begin has taken nothing.
                let group = taken.all.isEmpty ? self.openings.take() : taken.all
                let translated = self.translated(error)
                for opening in group { opening.answer(.failure(translated)) }
            }
        }
    }
}

/// The streams that one transaction opens.
private struct OpeningTransaction {
    private let database: any SQLConnection
    private let store: SQLiteTrackStore
    private var numbers: Numbers
    private var entities: EntityRows
    private let claimUpdate: any SQLStatement
    private let stateSelection: any SQLStatement
    private let claimCount: any SQLStatement
    private let claimRemoval: any SQLStatement

    init(_ database: any SQLConnection, _ store: SQLiteTrackStore) throws {
        self.database = database
        self.store = store
        numbers = Numbers(database)
        entities = EntityRows(database, store.records)
        // Before schema 5 a stream was stored as far for all its entities.
        claimUpdate = try database.statement(
            """
            INSERT INTO claim (entity, stream, epoch, stored_through, updated)
            VALUES (?1, ?2, ?3, COALESCE(
                (SELECT stored_through FROM former_stream WHERE service = ?4 AND stream = ?2), 0), ?5)
            ON CONFLICT (entity, stream) DO UPDATE SET epoch = excluded.epoch, updated = excluded.updated
            RETURNING stored_through
            """)
        stateSelection = try database.statement(EntityState.selection)
        claimCount = try database.statement("SELECT COUNT(*) FROM claim WHERE entity = ?")
        claimRemoval = try database.statement(
            """
            DELETE FROM claim WHERE entity = ?1 AND stream IN (
                SELECT stream FROM claim WHERE entity = ?1 ORDER BY epoch DESC LIMIT -1 OFFSET \(StreamClaim.mostStreams))
            """)
    }

    /// Call it before the transaction ends.
    func save() throws {
        try numbers.save()
        entities.save()
    }

    mutating func open(_ opening: StreamOpening) throws -> Result<StreamClaim, TrackStoreError> {
        let key = opening.entity
        do {
            try store.check(key.service, database)
        } catch let error as TrackStoreError {
            return .failure(error)
        }
        let entity = try entities.find(key) ?? entities.make(key, at: opening.time, &numbers)
        let epoch = try numbers.next()
        let stored = try claimUpdate.value(
            Int64.self,
            [
                entity, opening.stream.bytes, epoch, key.service.rawValue, opening.time.milliseconds,
            ])
        if try claimCount.value(Int.self, [entity]) ?? 0 > StreamClaim.mostStreams {
            try claimRemoval.execute([entity])
        }
        let state = try stateSelection.row([entity], EntityState.init) ?? EntityState()
        return .success(
            StreamClaim(
                epoch: epoch, storedThrough: UInt64(bitPattern: stored ?? 0), version: state.version,
                fences: state.fences))
    }
}

/// One stream to be opened, and the caller who waits for the claim.
final class StreamOpening: Sendable {
    private enum State {
        case open
        case waited(CheckedContinuation<Result<StreamClaim, TrackStoreError>, Never>)
        case answered(Result<StreamClaim, TrackStoreError>)
    }

    let stream: StreamID
    let entity: EntityKey
    let time: Timestamp
    private let state = Mutex(State.open)

    init(stream: StreamID, entity: EntityKey, time: Timestamp) {
        self.stream = stream
        self.entity = entity
        self.time = time
    }

    /// To be called once.
    func claim() async throws(TrackStoreError) -> StreamClaim {
        let result = await withCheckedContinuation { continuation in
            let answer: Result<StreamClaim, TrackStoreError>? = state.withLock { state in
                if case .answered(let result) = state { return result }
                state = .waited(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
        return try result.get()
    }

    /// To be called once.
    func answer(_ result: Result<StreamClaim, TrackStoreError>) {
        let waiting: CheckedContinuation<Result<StreamClaim, TrackStoreError>, Never>? = state.withLock { state in
            defer { state = .answered(result) }
            if case .waited(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(returning: result)
    }
}

/// The streams that wait to be opened. After a cut of all links a fleet logs in within minutes: one transaction opens
/// the streams that came while the writer was busy.
final class StreamOpenings: Sendable {
    private let waiting = Mutex<[StreamOpening]>([])

    /// True for the first of a group, whose caller must see to the opening.
    func add(_ opening: StreamOpening) -> Bool {
        waiting.withLock { waiting in
            waiting.append(opening)
            return waiting.count == 1
        }
    }

    /// The whole group; the next to come begins another one.
    func take() -> [StreamOpening] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}

/// What a transaction took, for the caller who answers after it.
final class TakenOpenings: Sendable {
    private let openings = Mutex<[StreamOpening]>([])

    var all: [StreamOpening] { openings.withLock { $0 } }

    func hold(_ group: [StreamOpening]) { openings.withLock { $0 = group } }
}
