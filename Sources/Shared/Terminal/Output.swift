internal import Glibc

/// The one way of both command lines to standard output and standard error, without a buffer.
///
/// Every text is made safe here (``TerminalText``), so no command can forget it. Only ``styled(_:)`` writes as it is told, for the
/// code that draws in place. Ends the program without a message when nobody reads its output any more, as in
/// `saker watch | head -1`.
package enum Output {
    /// One line. A line break in it comes from outside, and is none.
    package static func print(_ line: String = "") {
        write(TerminalText.safe(line) + "\n", to: STDOUT_FILENO)
    }

    /// For programs: exact, with escapes for what controls a terminal.
    package static func print(json: String) {
        write(TerminalText.safeJSON(json) + "\n", to: STDOUT_FILENO)
    }

    /// A text of the program's own that has several lines, such as help or a certificate.
    package static func print(text: String) {
        write(TerminalText.safeLines(text) + (text.hasSuffix("\n") ? "" : "\n"), to: STDOUT_FILENO)
    }

    /// A name and a text a line, indented and folded to the terminal.
    package static func pairs(_ rows: [(String, String)]) {
        var table = TextTable.pairs
        for (name, text) in rows { table.add(name, text) }
        for line in table.lines(width: TerminalSize.columns.map { max($0 - 2, 1) }) { print("  " + line) }
    }

    /// A question on standard error; the answer is typed behind it.
    package static func ask(_ question: String) {
        write(TerminalText.safe(question), to: STDERR_FILENO)
    }

    /// A sentence on standard error, folded to the terminal.
    package static func complain(_ sentence: String) {
        complain(text: TerminalText.safe(sentence))
    }

    /// The same for a text of the program's own that has several lines.
    package static func complain(text: String) {
        write(TextFold.text(TerminalText.safeLines(text), width: TerminalSize.errorColumns) + "\n", to: STDERR_FILENO)
    }

    /// What is drawn in place, with its control sequences. Whoever calls this has made every text in it safe.
    package static func styled(_ text: String) {
        write(text, to: STDOUT_FILENO)
    }

    /// The content of a file on standard output: exact for programs, and safe on a terminal.
    package static func content(_ bytes: some Collection<UInt8>) {
        guard isatty(STDOUT_FILENO) == 1 else { return write(bytes, to: STDOUT_FILENO) }
        write(TerminalText.safeLines(String(decoding: bytes, as: UTF8.self)), to: STDOUT_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) { write(text.utf8, to: descriptor) }

    private static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EPIPE { exit(0) }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}

/// The room for tables on standard output.
package enum TerminalSize {
    /// Columns of the terminal, or of the variable COLUMNS; nil when neither says so, as behind a pipe: then nothing is folded or
    /// left out. Less than 40 counts as 40.
    package static var columns: Int? {
        if let columns = columns(of: STDOUT_FILENO) { return columns }
        guard let text = getenv("COLUMNS"), let columns = Int(String(cString: text)), columns > 0 else { return nil }
        return max(columns, 40)
    }

    /// Of the terminal that errors go to; nil when they go elsewhere.
    package static var errorColumns: Int? { columns(of: STDERR_FILENO) }

    private static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return max(Int(size.ws_col), 40)
    }
}

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
