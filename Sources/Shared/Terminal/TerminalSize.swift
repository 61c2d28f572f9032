internal import Glibc

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
