import ConfigurationFile
import Glibc
import Terminal

/// Reads the line that a person was given: from standard input, from the terminal, or from a file.
enum EnrollmentLine {
    /// `place`: a path, or `-`.
    static func given(_ place: String) throws(CommandFailure) -> String {
        guard place == "-" else { return try read(place) }
        guard Console.asksTerminal else {
            guard let text = Console.readAll(limit: EnrollmentString.maximumCharacters) else {
                throw CommandFailure(.failed, "standard input has no enrolment line")
            }
            return text
        }
        Output.ask("Paste the line that saker-server printed: ")
        return readHidden() ?? ""
    }

    private static func read(_ path: String) throws(CommandFailure) -> String {
        // Whatever stands before the line: the argument holds a key.
        guard !EnrollmentString.looksLikeOne(path), !path.contains(EnrollmentString.keyPrefix),
            !path.contains(EnrollmentString.tokenPrefix)
        else {
            throw CommandFailure(
                .usage,
                "the line holds a secret, and other users see arguments: give it to standard input (sudo saker enroll -) "
                    + "or name a file that holds it. Was somebody else on this machine? Then make a new one, on the server: "
                    + "saker-server service rotate-key, or saker-server token revoke and create")
        }
        guard let handle = fopen(path, "re") else {
            throw CommandFailure(.failed, "cannot read \(path.printable): \(String(cString: strerror(errno)))")
        }
        defer { fclose(handle) }
        var bytes = [UInt8](repeating: 0, count: EnrollmentString.maximumCharacters + 1)
        let count = fread(&bytes, 1, bytes.count, handle)
        guard let text = String(validating: bytes.prefix(count), as: UTF8.self), !text.isEmpty else {
            throw CommandFailure(.failed, "\(path.printable) holds no enrolment line")
        }
        return text
    }

    /// Reads a line from the terminal without showing it, because the line holds a secret.
    private static func readHidden() -> String? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return readLine() }
        var hidden = settings
        // A terminal in its usual mode takes 4,095 characters a line, an enrolment line at most 4,096.
        hidden.c_lflag &= ~tcflag_t(ECHO)
        let ends = EndingSignals()
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        let outcome = ends?.readLine(limit: EnrollmentString.maximumCharacters) ?? .line(readLine())
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        Output.print("")
        ends?.restore()
        switch outcome {
        case .line(let line): return line
        case .signal(let number):
            // Swift's runtime may have a handler of its own for one of them, which does not end the program. And to the
            // process: this thread is one of a pool, which blocks signals.
            signal(number, SIG_DFL)
            kill(getpid(), number)
            while true { pause() }
        }
    }
}
