import Synchronization

/// What the writing of exports has come to since the start.
final class ExportCounters: Sendable {
    struct Counts: Hashable, Sendable {
        var done = 0
        var failed = 0
        var points: Int64 = 0
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    func finished(points: Int64) {
        state.withLock { state in
            state.done += 1
            state.points += points
        }
    }

    func failed() { state.withLock { $0.failed += 1 } }
}
