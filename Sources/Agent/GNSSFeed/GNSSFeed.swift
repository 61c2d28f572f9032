internal import Synchronization

/// Delivers gpsd's reports from a thread of its own. It handles every way in which gpsd and its receivers come and go.
///
/// The thread sleeps until gpsd sends something. It wakes by itself only to connect again, to tell of silence, and to
/// ask gpsd for a sign of life after half a minute without a byte.
package final class GNSSFeed: Sendable {
    private let configuration: FeedConfiguration
    private let signal: WakeSignal
    private let deliver: @Sendable (FeedEvent) -> Void
    private let isStarted = Atomic<Bool>(false)
    private let shared = SharedCounters()

    /// The feed calls `deliver` on its own thread, one call at a time. `deliver` should only pass the event on.
    package init(
        configuration: FeedConfiguration, deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) {
        self.configuration = configuration
        self.deliver = deliver
        signal = try WakeSignal()
    }

    deinit {
        signal.stop()
    }

    /// Starts the thread; a second call does nothing.
    package func start() throws(GNSSFeedError) {
        guard !isStarted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let (configuration, signal, shared, deliver) = (configuration, signal, shared, deliver)
        try startThread {
            do throws(GNSSFeedError) {
                var loop = try FeedLoop(configuration: configuration, signal: signal, shared: shared, deliver: deliver)
                loop.run()
            } catch {
                deliver(.state(.unreachable(reason: error.detail)))
            }
            deliver(.state(.stopped))
        }
    }

    /// Ends the wait for the next attempt, so that the feed connects at once. Call it when gpsd may be back.
    package func wake() {
        signal.wake()
    }

    /// Ends the feed for good and returns at once. The last event is `.state(.stopped)`. A feed that was never started
    /// sends no event.
    package func stop() {
        signal.stop()
    }

    package var counters: FeedCounters { shared.value }
}

/// The machine's counters, readable from any thread.
final class SharedCounters: Sendable {
    private let counters = Mutex(FeedCounters())

    var value: FeedCounters { counters.withLock { $0 } }

    func publish(_ value: FeedCounters) {
        counters.withLock { $0 = value }
    }
}
