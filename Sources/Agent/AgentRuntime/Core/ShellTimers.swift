internal import NIOCore

/// The timers of one shell, on the loop. A timer is named by a key; setting it again replaces it.
///
/// A timer that is set holds what its closure holds until it fires or is cancelled.
final class ShellTimers<Key: Hashable> {
    private let loop: any EventLoop
    private var scheduled: [Key: Scheduled<Void>] = [:]

    init(_ context: ShellContext) {
        loop = context.loop
    }

    /// Calls `fire` once after the time; a time that has passed means the next turn of the loop.
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
