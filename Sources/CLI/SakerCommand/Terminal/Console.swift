import Glibc

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
