internal import NIOCore

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
