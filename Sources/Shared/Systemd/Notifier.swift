internal import Glibc

/// Tells systemd how the program is doing: `sd_notify` over the socket that NOTIFY_SOCKET names.
///
/// Without that variable every call does nothing. No call waits or fails the program; the result says whether the
/// message was sent, and need not be looked at.
package struct Notifier: Sendable {
    /// How long systemd waits for ``watchdog()`` before it restarts the program; nil when it does not watch.
    ///
    /// Call at half of it.
    package let watchdogTimeout: Duration?

    private let socket: UnixDatagramSocket?

    /// Whether anyone listens.
    package var isActive: Bool { socket != nil }

    /// A notifier as `environment` (NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID) describes it, for the process `pid`.
    package init(environment: [String: String], pid: Int32 = getpid()) {
        socket = environment["NOTIFY_SOCKET"].flatMap(UnixDatagramSocket.init(path:))
        watchdogTimeout = Self.watchdogTimeout(environment, pid: pid)
    }

    /// The notifier of this process; takes the variables out of the environment, so that no child speaks for it.
    ///
    /// Call it once, before other threads read the environment.
    package static func takingEnvironment() -> Notifier {
        var environment: [String: String] = [:]
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            guard let value = unsafe getenv(name) else { continue }
            environment[name] = unsafe String(cString: value)
            unsafe unsetenv(name)
        }
        return Notifier(environment: environment)
    }

    /// Start-up, or a reload, is done.
    @discardableResult
    package func ready(status: String? = nil) -> Bool { send(["READY=1"], status: status) }

    /// What the program does now, in one line for `systemctl status`.
    @discardableResult
    package func status(_ status: String) -> Bool { send([], status: status) }

    /// The configuration is being read again; ``ready(status:)`` ends it.
    @discardableResult
    package func reloading(status: String? = nil) -> Bool {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = Int64(now.tv_sec) &* 1_000_000 &+ Int64(now.tv_nsec) / 1000
        return send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"], status: status)
    }

    /// The program is about to end.
    @discardableResult
    package func stopping(status: String? = nil) -> Bool { send(["STOPPING=1"], status: status) }

    /// The program is alive; call it from the loop whose life it proves.
    @discardableResult
    package func watchdog() -> Bool { send(["WATCHDOG=1"], status: nil) }

    private func send(_ lines: [String], status: String?) -> Bool {
        guard let socket else { return false }
        // A line break in the status would begin another assignment.
        let status = status.map { "STATUS=" + String($0.unicodeScalars.map { $0.value < 32 ? " " : Character($0) }) }
        let message = (lines + [status].compactMap(\.self)).joined(separator: "\n")
        return socket.send(Array(message.utf8)) == .sent
    }

    /// As sd_watchdog_enabled(3): a positive number of microseconds, meant for this process.
    private static func watchdogTimeout(_ environment: [String: String], pid: Int32) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        if let meant = environment["WATCHDOG_PID"], Int32(meant) != pid { return nil }
        return .microseconds(microseconds)
    }
}
