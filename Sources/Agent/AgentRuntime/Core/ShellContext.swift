internal import Logging
package import NIOCore
internal import Systemd
package import TrackModel

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
    var systemClock: KernelClockState { clock.read() }
}

/// The timers of one shell, on the loop. Each timer has a key. To set a timer again replaces the timer.
///
/// The objects that a timer's closure uses stay alive until the timer fires or is cancelled.
final class ShellTimers<Key: Hashable> {
    private let loop: any EventLoop
    private var scheduled: [Key: Scheduled<Void>] = [:]

    init(_ context: ShellContext) {
        loop = context.loop
    }

    /// Calls `fire` once after the time. If the time is 0 or less, calls `fire` in the next turn of the loop.
    func set(_ key: Key, milliseconds: Int64, _ fire: @escaping () -> Void) {
        scheduled[key]?.cancel()
        scheduled[key] = loop.assumeIsolated().scheduleTask(in: .milliseconds(max(0, milliseconds))) { [self] in
            scheduled[key] = nil
            fire()
        }
    }

    func cancel(_ key: Key) {
        scheduled.removeValue(forKey: key)?.cancel()
    }

    func cancelAll() {
        for timer in scheduled.values { timer.cancel() }
        scheduled = [:]
    }
}

/// Callers who wait for the disk, each no longer than it says: a disk that hangs keeps nobody.
final class WaitingCallers {
    typealias Answer = (_ isDone: Bool) -> Void

    private let timers: ShellTimers<UInt64>
    private var waiting: [UInt64: Answer] = [:]
    private var last: UInt64 = 0

    init(_ context: ShellContext) {
        timers = ShellTimers(context)
    }

    /// `then` is called once: by ``answer(_:isDone:)`` with the number that is returned, or with false after the time.
    func wait(milliseconds: Int64, then: @escaping Answer) -> UInt64 {
        last += 1
        let number = last
        waiting[number] = then
        timers.set(number, milliseconds: milliseconds) { [self] in answer(number, isDone: false) }
        return number
    }

    /// Does nothing for a caller who has waited long enough.
    func answer(_ number: UInt64, isDone: Bool) {
        timers.cancel(number)
        waiting.removeValue(forKey: number)?(isDone)
    }

    /// Nobody waits any more.
    func shutDown() {
        timers.cancelAll()
        for number in waiting.keys.sorted() { answer(number, isDone: false) }
    }
}

extension MonotonicTime {
    /// A time of the event loop's clock, in whole milliseconds.
    package init(_ deadline: NIODeadline) {
        self.init(milliseconds: Int64(deadline.uptimeNanoseconds / 1_000_000))
    }
}

extension SystemTime {
    init(_ clock: KernelClockState) {
        self.init(milliseconds: clock.milliseconds)
    }
}

extension Logger.Metadata {
    /// The fields of a message about an event of docs/journal.md. Operators find such a message by its `MESSAGE_ID`.
    static func event(_ kind: MessageID, _ fields: Logger.Metadata = [:]) -> Logger.Metadata {
        fields.merging(["message_id": "\(kind.rawValue)"]) { $1 }
    }
}
