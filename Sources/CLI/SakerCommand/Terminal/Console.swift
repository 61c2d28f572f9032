import Glibc
import Terminal

/// The three standard streams.
enum Console {
    /// Ends the program without a message when nobody reads its output any more, as in `saker watch | head -1`.
    static func print(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    static func write(_ text: String) {
        write(text, to: STDOUT_FILENO)
    }

    static func complain(_ text: String) {
        write(TextFold.text(text, width: TerminalSize.errorColumns) + "\n", to: STDERR_FILENO)
    }

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

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
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
