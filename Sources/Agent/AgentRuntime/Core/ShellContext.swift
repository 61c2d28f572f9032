internal import Logging
internal import NIOCore
internal import TrackModel

/// What every shell of the agent may use: the event loop on which it runs, the two clocks, and the journal.
///
/// The agent has one context, and all shells share it. A shell knows nothing else of the agent.
final class ShellContext {
    let loop: any EventLoop
    private let clock: any SystemClockSource
    /// The journal. Its level changes when the configuration is reloaded.
    var log: Logger

    init(loop: any EventLoop, clock: any SystemClockSource, log: Logger) {
        self.loop = loop
        self.clock = clock
        self.log = log
    }

    /// The clock of the loop. All waits and deadlines use it.
    var now: MonotonicTime { MonotonicTime(loop.now) }
    /// The system clock, for times that people read.
    var systemTime: SystemTime { SystemTime(clock.read()) }
    /// The system clock, and whether the kernel says that something synchronises it.
    var systemClock: SystemClock { clock.read() }
}
