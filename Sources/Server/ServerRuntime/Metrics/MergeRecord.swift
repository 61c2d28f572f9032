import Synchronization

/// How the rounds of merging went, for monitoring.
final class MergeRecord: Sendable {
    struct Counts: Hashable, Sendable {
        var rounds: UInt64 = 0
        var failedRounds: UInt64 = 0
        /// Chunks that became part of larger ones.
        var replaced: UInt64 = 0
        /// When the last round that saw everything ended, seconds since 1970; nil before the first.
        var lastSuccess: Double?
        var lastDuration = Duration.zero
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    /// `time`: seconds since 1970 when everything that was due is merged now; nil when it is not.
    func ended(at time: Double?, after duration: Duration, replaced: Int, hasFailed: Bool) {
        state.withLock { state in
            state.rounds &+= 1
            if hasFailed { state.failedRounds &+= 1 }
            state.replaced &+= UInt64(max(0, replaced))
            if let time { state.lastSuccess = time }
            state.lastDuration = duration
        }
    }
}
