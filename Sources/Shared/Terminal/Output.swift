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
