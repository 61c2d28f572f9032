import Synchronization
import Systemd
import TrackModel

/// Asks systemd for more time while the start gets on: a large store takes longer to copy than systemd waits for a start, and a
/// start that is ended would begin the copy anew for ever.
final class StartPatience: Sendable {
    /// From one request to the next, in milliseconds.
    static let interval: Int64 = 10_000
    /// For how long each request counts, from its moment on.
    static let reach = Duration.seconds(300)

    private let notifier: Notifier
    private let clock: @Sendable () -> MonotonicTime
    private let asked = Mutex<MonotonicTime?>(nil)

    init(notifier: Notifier, clock: @escaping @Sendable () -> MonotonicTime) {
        self.notifier = notifier
        self.clock = clock
    }

    /// A part of the start is done.
    func progress() {
        let now = clock()
        let isDue = asked.withLock { asked in
            if let asked, now - asked < Self.interval { return false }
            asked = now
            return true
        }
        guard isDue else { return }
        notifier.extendTimeout(by: Self.reach)
        notifier.status("copying the store before its tables are changed")
    }
}
