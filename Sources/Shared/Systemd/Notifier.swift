internal import Glibc

/// Tells systemd the state of the program: `sd_notify` over the socket in NOTIFY_SOCKET.
///
/// Without that variable no call does anything. No call waits or throws. The result says whether the message was sent;
/// callers may ignore it.
package struct Notifier: Sendable {
    /// systemd restarts the program when ``watchdog()`` was not called for so long. Nil when systemd does not watch.
    ///
    /// Call ``watchdog()`` at half of this time.
    package let watchdogTimeout: Duration?

    private let socket: UnixDatagramSocket?

    /// Whether systemd listens.
    package var isActive: Bool { socket != nil }

    /// The notifier that `environment` (NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID) describes for the process `pid`.
    package init(environment: [String: String], pid: Int32 = getpid()) {
        socket = environment["NOTIFY_SOCKET"].flatMap(UnixDatagramSocket.init(path:))
        watchdogTimeout = Self.watchdogTimeout(environment, pid: pid)
    }

    /// The notifier of this process. Removes the variables from the environment, so that no child process uses them.
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

    /// The start, or a reload, is complete.
    @discardableResult
    package func ready(status: String? = nil) -> Bool { send(["READY=1"], status: status) }

    /// What the program is doing, in one line for `systemctl status`.
    @discardableResult
    package func status(_ status: String) -> Bool { send([], status: status) }

    /// The start, or whatever else systemd waits for, goes on: systemd waits for so long from now on, unless it would wait longer
    /// anyway. Positive, rounded down to microseconds.
    @discardableResult
    package func extendTimeout(by time: Duration) -> Bool {
        let (seconds, attoseconds) = time.components
        return send(["EXTEND_TIMEOUT_USEC=\(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)"], status: nil)
    }

    /// The program is reading its configuration again. ``ready(status:)`` ends this state.
    @discardableResult
    package func reloading() -> Bool {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = Int64(now.tv_sec) &* 1_000_000 &+ Int64(now.tv_nsec) / 1000
        return send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"], status: nil)
    }

    /// The program is stopping.
    @discardableResult
    package func stopping(status: String? = nil) -> Bool { send(["STOPPING=1"], status: status) }

    /// The program is alive. Call it from the loop that must be alive.
    @discardableResult
    package func watchdog() -> Bool { send(["WATCHDOG=1"], status: nil) }

    private func send(_ lines: [String], status: String?) -> Bool {
        guard let socket else { return false }
        // A line break in the status would begin another assignment.
        let status = status.map { "STATUS=" + String($0.unicodeScalars.map { $0.value < 32 ? " " : Character($0) }) }
        let message = (lines + [status].compactMap(\.self)).joined(separator: "\n")
        return socket.send(Array(message.utf8)) == .sent
    }

    /// Like sd_watchdog_enabled(3): a positive number of microseconds, for this process.
    private static func watchdogTimeout(_ environment: [String: String], pid: Int32) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        if let meant = environment["WATCHDOG_PID"], Int32(meant) != pid { return nil }
        return .microseconds(microseconds)
    }
}
