internal import Glibc

/// One line of standard error that tells how far a long work is, written over and over; nothing where no terminal is.
package final class ProgressLine {
    private let isShown: Bool
    private var shownAt: Int64?

    /// `isShown` nil: when standard error is a terminal.
    package init(isShown: Bool? = nil) {
        self.isShown = isShown ?? (isatty(STDERR_FILENO) == 1)
    }

    /// At most five times a second.
    package func show(_ text: @autoclosure () -> String) {
        guard isShown else { return }
        let now = Self.milliseconds
        if let shownAt, now - shownAt < 200 { return }
        shownAt = now
        let columns = max(20, (Self.columns ?? 80) - 1)
        Self.write("\r\(DisplayWidth.prefix(TerminalText.safe(text()), columns: columns))\u{1B}[K")
    }

    /// Before other lines are written: takes the line away.
    package func clear() {
        guard shownAt != nil else { return }
        shownAt = nil
        Self.write("\r\u{1B}[K")
    }

    deinit {
        if shownAt != nil { Self.write("\r\u{1B}[K") }
    }

    private static var columns: Int? {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
