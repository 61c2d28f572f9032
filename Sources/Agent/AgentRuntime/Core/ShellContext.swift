internal import Logging
internal import NIOCore
internal import TrackModel

/// What every shell of the agent may use: the loop that it is confined to, the two clocks, and the journal.
///
/// The agent has one context, and all shells share it. A shell never learns more of the agent than this.
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

    /// The loop's clock: every wait and every deadline is counted with it.
    var now: MonotonicTime { MonotonicTime(loop.now) }
    /// The system's clock: what people are shown.
    var systemTime: SystemTime { SystemTime(clock.read()) }
    /// The system's clock with what the kernel says of it.
    var systemClock: SystemClock { clock.read() }
}
