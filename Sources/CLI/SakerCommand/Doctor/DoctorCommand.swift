import AgentControl
import ArgumentParser
import Diagnosing
import Glibc
import JSON
import NIOCore
import Terminal
import Varlink

/// `saker doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks everything that can keep this vehicle from being tracked, and says what to do.",
        discussion: """
            Checks the agent, its configuration, gpsd, receiver, fix and clock, the
            connection to the server, TLS, login, disk and permissions. Works without any
            of them, changes nothing, and ends within 15 seconds. With sudo it can read
            all files.

            Exit codes: 0 no check failed, 1 a check failed, 2 wrong usage, 3 the agent
            does not answer (the checks that do not need the agent are done).

            Examples:
              sudo saker doctor
              saker doctor --json | jq -r '.checks[].remedy // empty'
            """)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The agent's control socket (default: $SAKER_SOCKET, or \(AgentInterface.defaultSocketPath)).",
            valueName: "path"))
    var socket: String?

    @Option(name: .long, help: ArgumentHelp("The agent's configuration.", valueName: "file"))
    var config = ConfigurationProbe.systemPath

    @Flag(name: .long, help: "Print the checks as one line of JSON.")
    var json = false

    func validate() throws {
        guard !config.isEmpty else { throw ValidationError("--config needs a file") }
    }

    func run() async throws {
        let examination = Examination(socket: AgentOptions.path(socket), configurationPath: config)
        let facts = await examination.facts()
        let list = CheckList(facts)
        list.show(asJSON: json)
        let code = facts.status == nil ? 3 : list.exitCode
        if code != 0 { Glibc.exit(code) }
    }
}

/// Gathers all facts: first from the agent, then from what the agent depends on. Each probe has a time limit.
struct Examination {
    let socket: String
    let configurationPath: String

    /// Ends within about 15 s, whatever hangs.
    func facts() async -> Facts {
        let answer = Task { await ask() }
        let program = MachineProbe.agentProgram()
        let unit = Task { await MachineProbe.unit() }
        let configuration = await ConfigurationProbe.facts(path: configurationPath, program: program)
        let begun = Facts(
            socket: socket, answer: await answer.value, unit: await unit.value, program: program,
            user: MachineProbe.user(),
            configurationPath: configurationPath, configuration: configuration)
        let gpsd = Task { await self.gpsd(begun) }
        let server = Task { await self.server(begun) }
        var facts = begun
        facts.serialPorts = MachineProbe.serialPorts()
        facts.clock = clock(facts.status)
        let places = facts.configuration.places
        facts.certificates = [places?.authorityFile, places?.clientCertificateFile].compactMap(\.self)
            .map(ClientCertificateProbe.facts)
        facts.identity = IdentityProbe.facts(configuration: configurationPath)
        if let directory = facts.status?.cache.directory ?? places?.cacheDirectory {
            // A network's file system may hang.
            facts.disk = await Deadline.run(seconds: 3) { MachineProbe.disk(directory) } ?? nil
        }
        let known = facts
        facts.files = await Deadline.run(seconds: 3) { files(known) } ?? []
        facts.gpsd = await gpsd.value
        facts.server = await server.value
        return facts
    }

    private func ask() async -> Facts.Answer {
        do {
            return .status(try await AgentControlClient(path: socket, timeout: .seconds(4)).status())
        } catch let error as VarlinkClientError {
            return .silent(error.code, error.detail)
        } catch {
            return .refused("\(error)")
        }
    }

    private func gpsd(_ facts: Facts) async -> GPSDFacts? {
        // The agent says that there is a fix a moment before it has made one.
        let wantsFix = facts.status?.feed.state != .fix || facts.status?.feed.lastFix == nil
        if let source = facts.status?.feed.source, let place = Self.place(source) {
            return await GPSDProbe.facts(host: place.host, port: place.port, wantsFix: wantsFix)
        }
        guard let places = facts.configuration.places else {
            return await GPSDProbe.facts(host: "127.0.0.1", port: 2947, wantsFix: wantsFix)
        }
        return await GPSDProbe.facts(host: places.gpsdHost, port: places.gpsdPort, wantsFix: wantsFix)
    }

    private func server(_ facts: Facts) async -> FleetServerFacts? {
        if let server = facts.status?.link.server, let place = Self.place(server) {
            return await ServerProbe.facts(host: place.host, port: place.port)
        }
        guard let places = facts.configuration.places else { return nil }
        return await ServerProbe.facts(host: places.host, port: places.port)
    }

    private func clock(_ status: AgentStatus?) -> ClockFacts {
        guard let status else {
            // Only a clock kept by systemd says so in a file.
            return ClockFacts(
                isSynchronised: access("/run/systemd/timesync/synchronized", F_OK) == 0 ? true : nil,
                time: LocalTime.now)
        }
        let receiver = status.feed.lastFix.flatMap { fix -> Int64? in
            let (time, overflow) = fix.time.addingReportingOverflow(fix.age)
            let (difference, isAbsurd) = time.subtractingReportingOverflow(status.time)
            return overflow || isAbsurd ? nil : difference
        }
        return ClockFacts(
            isSynchronised: status.clock?.synchronised, time: status.time,
            serverDifference: status.clock?.serverDifference, receiverDifference: receiver)
    }

    private func files(_ facts: Facts) -> [FileFacts] {
        let places = facts.configuration.places
        let user = MachineProbe.agentUser(socket: socket, configurationPath: configurationPath)
        let directories = [places?.stateDirectory, facts.status?.cache.directory ?? places?.cacheDirectory]
        let configuration = MachineProbe.file(configurationPath, .readable, agentUser: user)
        return [configuration, MachineProbe.file(socket, .socket, agentUser: user)]
            + directories.compactMap(\.self).map { MachineProbe.file($0, .writable, agentUser: user) }
            + (places?.credentials ?? []).map { MachineProbe.file($0, .credential, agentUser: user) }
    }

    /// `host:port`, where the host may itself hold colons.
    static func place(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65535).contains(port), colon > text.startIndex
        else { return nil }
        return (String(text[..<colon]), port)
    }
}

/// What keeps a vehicle from being tracked.
enum VehicleSubject: String, CheckSubject {
    case agent, configuration, service, gather, settings
    case gpsd, device, fix, clock
    case dns, tcp, tls, certificates, identity, login
    case disk, cache, fences, permissions

    static let ending = "Nothing keeps this vehicle from being tracked."

    func check(_ facts: Facts) -> Finding {
        switch self {
        case .agent: AgentChecks.agent(facts)
        case .configuration: ConfigurationCheck.configuration(facts)
        case .service: AgentChecks.service(facts)
        case .gather: AgentChecks.gather(facts)
        case .settings: AgentChecks.settings(facts)
        case .gpsd: ReceiverChecks.gpsd(facts)
        case .device: ReceiverChecks.device(facts)
        case .fix: ReceiverChecks.fix(facts)
        case .clock: ClockCheck.clock(facts)
        case .dns: ServerChecks.dns(facts)
        case .tcp: ServerChecks.tcp(facts)
        case .tls: ServerChecks.tls(facts)
        case .certificates: CertificateCheck.certificates(facts)
        case .identity: IdentityCheck.identity(facts)
        case .login: ServerChecks.login(facts)
        case .disk: VehicleStorageChecks.disk(facts)
        case .cache: VehicleStorageChecks.cache(facts)
        case .fences: FenceCheck.fences(facts)
        case .permissions: VehicleStorageChecks.permissions(facts)
        }
    }
}

extension CheckList<VehicleSubject> {
    init(_ facts: Facts) {
        self.init { $0.check(facts) }
    }
}
