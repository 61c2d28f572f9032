import ArgumentParser
import ConfigurationFile
import Glibc
import Terminal
import TrackModel

/// `saker enroll`
struct EnrollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Sets this vehicle up with the line that saker-server printed.",
        discussion: """
            The line contains a secret. As an argument, other users could see it while the command runs, and it would
            stay in the shell's history. So paste it, send it to standard input, or name a file that holds it.

            With a line that has a token, this vehicle makes a key of its own and claims a certificate for it. If a
            person must approve the vehicle first, enroll says so and waits. After an interruption, run the same command
            again: the vehicle stays the same device.

            With the rights of root and without --directory, enroll then starts sakerd, now and at each boot.

            Examples:
              sudo saker enroll -                    asks for the line
              ssh fleet saker-server … | sudo saker enroll - --entity van_07
              sudo saker enroll /media/usb/van_07.txt --force
              sudo saker enroll - --key 'pkcs11:token=box;object=key;type=private'
            """)

    @Argument(help: ArgumentHelp("A file with the line, or - to read it from standard input.", valueName: "file"))
    var file: String = "-"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The vehicle's name in the service (default: the host name; with a token, what the server chooses).",
            valueName: "name"))
    var entity: String?

    @Option(name: .long, help: ArgumentHelp("Where the files go.", valueName: "path"))
    var directory: String = VehicleDirectory.system

    @Flag(name: .long, help: "Replace what is there.")
    var force = false

    @Flag(name: .long, help: "Only write the files; do not start sakerd.")
    var noStart = false

    @OptionGroup(title: "With a token") var device: DeviceEnrolmentOptions

    func run() async throws {
        let directory = VehicleDirectory(directory)
        if device.unattended, try await leaveEnrolledVehicle(directory) { return }
        if let entity, let problem = EntityName.problem(withNew: entity) {
            throw CommandFailure(
                .usage, "'\(entity.printable)' cannot be the entity's name: \(problem). Give another with --entity.")
        }
        let given = try EnrolmentLine.given(file)
        let line: EnrolmentString
        do throws(EnrolmentStringError) {
            line = try EnrolmentString(decoding: given)
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
        guard let (written, outcome) = try await enroll(line, directory) else { return }
        for path in written { Output.print("Wrote \(path)") }
        Output.print("")
        let isStarted = try await putIntoService(directory) { try AgentUnit.restart() }
        for line in outcome.lines(isStarted: isStarted) { Output.print(line) }
    }

    /// The files that were written; nil when the vehicle was enrolled meanwhile in another way.
    private func enroll(
        _ line: EnrolmentString, _ directory: VehicleDirectory
    ) async throws -> ([String], EnrolmentOutcome)? {
        switch line.credential {
        case .accessKey(let accessKey):
            try device.refuseWithoutToken()
            let entity = self.entity ?? Self.hostName
            if let problem = EntityName.problem(withNew: entity) {
                throw CommandFailure(
                    .usage,
                    "the host name '\(entity.printable)' cannot be the entity's name: \(problem). Give --entity.")
            }
            if !force { try directory.refuseEnrolled() }
            let files = EnrolmentFiles(
                line, service: line.service ?? 0, accessKey: accessKey, entity: entity, directory: directory)
            try directory.make()
            let lock = try await EnrolmentLock.take(directory, waiting: device.unattended)
            defer { lock.release() }
            try directory.beginEnrolment()
            return (try files.write(replacing: force), files.outcome)
        case .token(let token):
            if !force { try directory.refuseEnrolled() }
            let claim = TokenEnrolment(
                line: line, token: token, key: try device.keyChoice(), machine: try MachineIdentity(),
                wishedEntity: entity, serial: device.serial, directory: directory)
            try await device.waitForTurn()
            // Before the key and the claim: what cannot be written at the end would cost a device at the server.
            try directory.make()
            let lock = try await EnrolmentLock.take(directory, waiting: device.unattended)
            defer { lock.release() }
            if device.unattended, try await leaveEnrolledVehicle(directory) { return nil }
            let files = try await claim.run(device.machine)
            // The claim may have waited for days.
            if device.unattended, try await leaveEnrolledVehicle(directory) { return nil }
            try directory.beginEnrolment()
            return (try files.write(replacing: force), files.outcome)
        }
    }

    /// A line that was left behind by an enrolment that is done would claim again after the next preparation of an image.
    /// A newer one waits for that. True when the vehicle is enrolled.
    private func leaveEnrolledVehicle(_ directory: VehicleDirectory) async throws -> Bool {
        guard !force, let done = FileStatus(of: directory.path(DeviceFiles.configuration)) else { return false }
        try directory.mend([DeviceFiles.configuration, DeviceKeyChoice.tpmFileName])
        let line = file == "-" ? nil : FileStatus(of: file)
        // The mark counts whatever the clock showed: without a clock that runs on without power, a line may be newer than what
        // was made of it.
        if directory.isEnrolmentUnfinished || line.map({ $0.modified < done.modified }) == true {
            // The enrolment was cut before its end, perhaps before the agent was to start at each boot.
            _ = try await putIntoService(directory) { try AgentUnit.start() }
            Output.print("This vehicle is enrolled." + (line == nil ? "" : " Removed \(file.printable)."))
        } else {
            Output.print("This vehicle is enrolled. Nothing to do.")
        }
        return true
    }

    /// Lets systemd run the agent at each boot and renew its certificate, forgets the line, and starts the agent: after a
    /// power cut at any moment, either the line or systemd brings the agent up. True when the agent runs.
    private func putIntoService(_ directory: VehicleDirectory, start: () throws -> Void) async throws -> Bool {
        let isUnit = !noStart && directory.isSystemWide ? await AgentUnit.canBeStarted() : false
        var renewal: Result<Void, any Error> = .success(())
        if isUnit {
            try AgentUnit.enable()
            let path = directory.path(DeviceFiles.configuration)
            if try VehicleIdentity(configuration: path) != nil { renewal = Result { try AgentUnit.enableRenewal() } }
        }
        if device.unattended, file != "-" { try? AtomicFile.remove(file) }
        directory.endEnrolment()
        guard isUnit else { return false }
        try start()
        // The agent runs also without it.
        try renewal.get()
        return true
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Reads the line that a person was given: from standard input, from the terminal, or from a file.
enum EnrolmentLine {
    /// `place`: a path, or `-`.
    static func given(_ place: String) throws(CommandFailure) -> String {
        guard place == "-" else { return try read(place) }
        guard Console.asksTerminal else {
            guard let text = Console.readAll(limit: EnrolmentString.maximumCharacters) else {
                throw CommandFailure(.failed, "standard input has no enrolment line")
            }
            return text
        }
        Output.ask("Paste the line that saker-server printed: ")
        return readHidden() ?? ""
    }

    private static func read(_ path: String) throws(CommandFailure) -> String {
        // Whatever stands before the line: the argument holds a key.
        guard !EnrolmentString.looksLikeOne(path), !path.contains(EnrolmentString.keyPrefix),
            !path.contains(EnrolmentString.tokenPrefix)
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
        var bytes = [UInt8](repeating: 0, count: EnrolmentString.maximumCharacters + 1)
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
        let outcome = ends?.readLine(limit: EnrolmentString.maximumCharacters) ?? .line(readLine())
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

/// What a person is told at the end of an enrolment.
struct EnrolmentOutcome: Hashable {
    let server: String
    let entity: String
    let hasWebAPI: Bool
    /// client.toml names an access key. Without one only the agent can ask the server.
    let hasKey: Bool
    let directory: VehicleDirectory

    /// What was done and what a person does next. `isStarted`: sakerd.service runs, and starts at each boot.
    func lines(isStarted: Bool) -> [String] {
        let start =
            directory.isSystemWide
            ? (isStarted ? [] : ["  sudo systemctl enable --now sakerd"]) + ["  sudo saker status"]
            : ["  sakerd --config \(directory.path)/agent.toml"]
        let begun = isStarted ? " sakerd runs, and starts at each boot." : ""
        let track =
            "  " + (directory.isSystemWide ? "sudo saker track latest " : "saker track latest ") + entity.printable
            + (directory.isSystemWide || !hasKey ? "" : " --config \(directory.path)/client.toml")
        return ["This vehicle will log in to \(server) as \(entity.printable).\(begun) Next:"] + start
            + (hasWebAPI ? [track] : [])
    }
}
