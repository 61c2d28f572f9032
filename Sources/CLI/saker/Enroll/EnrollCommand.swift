import ArgumentParser
import ConfigurationFile
import Glibc
import TrackModel

/// `saker enroll`
struct EnrollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Sets this vehicle up with the line that saker-server printed.",
        discussion: """
            The line contains the access key. As an argument, other users could see it while the command runs, and it
            would stay in the shell's history. So paste it, send it to standard input, or name a file that holds it.

            With the rights of root and without --directory, enroll then starts sakerd, now and at each boot.

            Examples:
              sudo saker enroll -                    asks for the line
              ssh fleet saker-server … | sudo saker enroll - --entity van_07
              sudo saker enroll /media/usb/van_07.txt --force
            """)

    @Argument(help: ArgumentHelp("A file with the line, or - to read it from standard input.", valueName: "file"))
    var file: String = "-"

    @Option(
        name: .long,
        help: ArgumentHelp("The vehicle's name in the service (default: the host name).", valueName: "name"))
    var entity: String?

    @Option(name: .long, help: ArgumentHelp("Where the files go.", valueName: "path"))
    var directory: String = EnrollmentFiles.systemDirectory

    @Flag(name: .long, help: "Replace what is there.")
    var force = false

    @Flag(name: .long, help: "Only write the files; do not start sakerd.")
    var noStart = false

    func run() async throws {
        let entity = self.entity ?? Self.hostName
        if let problem = EntityName.problem(with: entity) {
            throw CommandFailure(
                .usage, "'\(entity.printable)' cannot be the entity's name: \(problem). Give another with --entity.")
        }
        let enrollment: EnrollmentString
        do {
            enrollment = try EnrollmentString(decoding: try given())
        } catch {
            if let error = error as? EnrollmentStringError { throw CommandFailure(.failed, error.detail) }
            throw error
        }
        let files = EnrollmentFiles(enrollment, entity: entity, directory: directory)
        let written = try files.write(replacing: force)
        for path in written { Console.print("Wrote \(path)") }
        Console.print("")
        var isStarted = false
        if !noStart, files.isSystemWide, await AgentUnit.canBeStarted() {
            try AgentUnit.start()
            isStarted = true
        }
        for line in files.nextSteps(isStarted: isStarted) { Console.print(line) }
    }

    private func given() throws -> String {
        guard file == "-" else { return try read(file) }
        guard Console.asksTerminal else {
            guard let text = Console.readAll(limit: EnrollmentString.maximumCharacters) else {
                throw CommandFailure(.failed, "standard input has no enrolment line")
            }
            return text
        }
        Console.write("Paste the line that saker-server printed: ")
        return Self.readHidden() ?? ""
    }

    private func read(_ path: String) throws -> String {
        // Whatever stands before the line: the argument holds a key.
        guard !EnrollmentString.looksLikeOne(path), !path.contains(EnrollmentString.prefix) else {
            throw CommandFailure(
                .usage,
                "the line holds the access key, and other users see arguments: give it to standard input (sudo saker enroll -) "
                    + "or name a file that holds it. Was somebody else on this machine? Then make a new key, on the server: "
                    + "saker-server service rotate-key")
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

    /// Reads a line from the terminal without showing it, because the line holds a key.
    private static func readHidden() -> String? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return readLine() }
        var hidden = settings
        // A terminal in its usual mode takes 4,095 characters a line, an enrolment line at most 4,096.
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            Console.print("")
        }
        return readLine()
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
