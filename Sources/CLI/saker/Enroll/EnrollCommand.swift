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
            The line contains the access key. If you give it as an argument, other users can see it while the command
            runs, and it stays in the shell's history. So paste it, or send it to standard input.

            Examples:
              sudo saker enroll -                    asks for the line
              ssh fleet saker-server … | sudo saker enroll - --entity van_07
              sudo saker enroll saker1:AbCd… --force
            """)

    @Argument(help: ArgumentHelp("The line, or - to read it from standard input.", valueName: "line"))
    var line: String = "-"

    @Option(
        name: .long,
        help: ArgumentHelp("The vehicle's name in the service (default: the host name).", valueName: "name"))
    var entity: String?

    @Option(name: .long, help: ArgumentHelp("Where the files go.", valueName: "path"))
    var directory: String = EnrollmentFiles.systemDirectory

    @Flag(name: .long, help: "Replace what is there.")
    var force = false

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
        for line in files.nextSteps { Console.print(line) }
    }

    private func given() throws -> String {
        guard line == "-" else { return line }
        guard Console.asksTerminal else {
            guard let text = Console.readAll(limit: EnrollmentString.maximumCharacters) else {
                throw CommandFailure(.failed, "standard input has no enrolment line")
            }
            return text
        }
        Console.write("Paste the line that saker-server printed: ")
        return Self.readHidden() ?? ""
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
