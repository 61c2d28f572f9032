package import Exposition
import Synchronization

/// How long requests through HTTP took, from their last byte to the answer; of all listeners together.
package final class RequestDurations: Sendable {
    private let state = Mutex(Histogram())

    package init() {}

    package var histogram: Histogram { state.withLock { $0 } }

    func record(_ duration: Duration) {
        state.withLock { $0.record(duration) }
    }
}
