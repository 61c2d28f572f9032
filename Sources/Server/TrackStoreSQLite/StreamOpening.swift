import Synchronization
import TrackModel
import TrackStore

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
