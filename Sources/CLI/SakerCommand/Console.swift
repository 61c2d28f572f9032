import Glibc
import Synchronization
import Terminal

/// The terminal of a person; what is written goes through `Output`.
enum Console {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var asksTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Columns and rows; nil when the output is no terminal or does not say.
    static var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Reads all of standard input. Nil when it is longer than `limit` bytes or not UTF-8.
    static func readAll(limit: Int) -> String? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= limit {
            let count = read(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(validating: bytes, as: UTF8.self) }
            bytes += piece.prefix(count)
        }
        return nil
    }
}

/// Draws the same lines again and again: in place on a terminal, one below the other elsewhere.
///
/// It writes a frame at once and over the former one, without erasing it first, so nothing flickers.
struct Screen {
    private var drawnRows = 0
    private var isFirst = true

    mutating func draw(_ lines: [String], on size: (columns: Int, rows: Int)?) -> String {
        defer { isFirst = false }
        let lines = lines.map(\.printable)
        guard let size else {
            return (isFirst ? "" : "\n") + lines.map { $0 + "\n" }.joined()
        }
        // A line that wrapped would take two rows and the next frame would climb too little.
        let shown = lines.prefix(max(size.rows - 1, 1)).map { DisplayWidth.prefix($0, columns: size.columns - 1) }
        let climb = drawnRows > 0 ? "\u{1B}[\(drawnRows)A\r" : ""
        drawnRows = shown.count
        return climb + shown.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
    }
}

/// While it lives, Ctrl-C and the other signals that end a program end a read of the terminal instead, so that the terminal
/// can be put back as it was.
///
/// The handler only writes the signal's number into a pipe, because a handler may run on any thread and at any place.
struct EndingSignals {
    enum Outcome {
        /// Nil at the end of the input.
        case line(String?)
        case signal(Int32)
    }

    private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let writingEnd = Atomic<Int32>(-1)

    private let ends: [Int32]
    private let former: [sigaction]

    /// Nil when the system has no pipe left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A handler must not wait.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        self.ends = ends
        Self.writingEnd.store(ends[1], ordering: .sequentiallyConsistent)
        former = Self.numbers.map { number in
            var (new, old) = (sigaction(), sigaction())
            new.__sigaction_handler.sa_handler = { number in
                let error = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(EndingSignals.writingEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
                errno = error
            }
            sigaction(number, nil, &old)
            // Who ignores a signal, as nohup does, goes on ignoring it.
            guard unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) != 1 else { return old }
            sigaction(number, &new, nil)
            return old
        }
    }

    /// Reads one line of at most `limit` bytes from standard input, or the first signal.
    func readLine(limit: Int) -> Outcome {
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while line.count <= limit {
            var waits = [STDIN_FILENO, ends[0]].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&waits, 2, -1) > 0 else {
                if errno == EINTR { continue }
                break
            }
            var number: UInt8 = 0
            if waits[1].revents != 0, read(ends[0], &number, 1) == 1 { return .signal(Int32(number)) }
            guard waits[0].revents != 0 else { continue }
            let count = read(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            line += piece.prefix(count)
            if piece.prefix(count).contains(0x0A) { break }
        }
        return .line(line.isEmpty ? nil : String(decoding: line.prefix { $0 != 0x0A }, as: UTF8.self))
    }

    /// The signals do again what they did.
    func restore() {
        for (number, old) in zip(Self.numbers, former) {
            var old = old
            sigaction(number, &old, nil)
        }
        Self.writingEnd.store(-1, ordering: .sequentiallyConsistent)
        for end in ends { close(end) }
    }
}
