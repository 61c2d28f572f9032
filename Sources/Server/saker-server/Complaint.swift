import Glibc
import Terminal

/// A line for people that is no answer: on standard error.
func complain(_ line: String) {
    let bytes = Array((TextFold.text(line, width: TerminalSize.errorColumns) + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
