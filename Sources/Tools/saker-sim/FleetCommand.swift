internal import ArgumentParser
internal import ConfigurationFile
internal import FleetSimulation
internal import Foundation
internal import SecureLink
internal import TrackModel

/// `saker-sim fleet`: many vehicles on long connections, as load for a server.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Simulate a fleet as load for a server, over TLS like agents.",
        discussion: """
            Opens all connections, then sends points for the given time, then closes the connections and prints the \
            results. It makes entities in the service, so use a service for tests. A refused point, or a connection that \
            the server closes, ends the run with an error.

            live: each vehicle sends one batch every --pack seconds. idle: heartbeats only. backlog: every vehicle sends \
            --points points in batches of --batch as fast as the server takes them.

            Example: saker-server init ... | grep -o 'saker1:.*' | saker-sim fleet --enroll - --mode backlog --vehicles 50
            """)

    @Option(help: "Address and port of the device port. Default: as in the enrolment string.")
    var server: GPSDEndpoint?

    @Option(help: ArgumentHelp("PEM certificates to trust instead of those of the system.", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("The name in the server's certificate. Default: its address.", valueName: "name"))
    var serverName: String?

    @Option(
        help: ArgumentHelp("A file that holds an enrolment string, or - for standard input.", valueName: "file"))
    var enroll: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The service's number, instead of an enrolment string.", valueName: "number"))
    var service: Int64?

    @Option(
        help: ArgumentHelp("A file that holds the service's access key, or - for standard input.", valueName: "file"))
    var ak: String?

    @Option(help: "live, backlog or idle.")
    var mode = FleetPlan.Mode.live

    @Option(parsing: .unconditional, help: "Connections, each one vehicle.")
    var vehicles = 100

    @Option(help: "Entities are named this, a dash and a number.")
    var prefix = "sim"

    @Option(parsing: .unconditional, help: "Seconds from one point to the next, by the points' own times.")
    var gather = 5

    @Option(
        parsing: .unconditional,
        help: "live: seconds from one batch of a vehicle to its next; points keep their spacing.")
    var pack = 30.0

    @Option(parsing: .unconditional, help: "Points of one batch. Default: 6, in backlog mode 1000.")
    var batch: Int?

    @Option(parsing: .unconditional, help: "backlog: points of each vehicle.")
    var points = 100_000

    @Option(
        parsing: .unconditional,
        help: "Seconds that live and idle last; the most that backlog may take. Default: 60, backlog 600.")
    var duration: Double?

    @Option(parsing: .unconditional, help: "The same seed gives the same drives.")
    var seed: UInt64 = 1

    @Option(help: "Time of the first point. Default: so that the last one is about now.")
    var startTime: StartTime?

    @Option(parsing: .unconditional, help: "Most new connections a second.")
    var rate = 500.0

    @Option(parsing: .unconditional, help: "Most connections that are opening at one time.")
    var opening = 100

    @Option(help: "An address of this machine to connect from; repeat for more. Default on loopback: one for 8,000.")
    var source: [String] = []

    @Option(parsing: .unconditional, help: "Threads that drive the fleet.")
    var threads = 1

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        var plan = try target()
        plan.serverName = serverName ?? plan.serverName
        (plan.vehicles, plan.entityPrefix, plan.gather, plan.pack) = (vehicles, prefix, gather, pack)
        plan.batch = batch ?? (mode == .backlog ? 1000 : 6)
        (plan.points, plan.seed, plan.start) = (points, seed, startTime?.timestamp)
        plan.duration = duration ?? (mode == .backlog ? 600 : 60)
        (plan.rate, plan.opening, plan.threads) = (rate, opening, threads)
        plan.sources = source.isEmpty ? loopbackSources(plan) : source
        let report = try await SimulatedFleet.run(plan) { FileHandle.standardError.write(Data(($0 + "\n").utf8)) }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            print(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            print(report.text)
        }
    }

    /// The server's address and the fleet's credentials.
    private func target() throws -> FleetPlan {
        let trust = ca.map { TLSClientOptions.Trust.authorities(file: $0) }
        if let enroll {
            guard service == nil, ak == nil else {
                throw ValidationError("--enroll holds service and key: give it, or --service and --ak")
            }
            let string = try EnrolmentString(decoding: secret(in: enroll, "the enrolment string"))
            guard case .accessKey(let accessKey) = string.credential, let service = string.service else {
                throw ValidationError(
                    "the enrolment string has a token, and the vehicles of the fleet share an access key: make a line with "
                        + "saker-server key create --legacy-device")
            }
            let known: TLSClientOptions.Trust
            switch string.trust {
            case .system: known = .systemRoots
            case .certificate(let der): known = .authority(der)
            case .pinnedKey:
                guard ca != nil else { throw ValidationError("the enrolment string pins a key: give --ca as well") }
                known = .systemRoots
            }
            var plan = FleetPlan(
                host: server?.host ?? string.host, port: Int(server?.port ?? string.port), trust: trust ?? known,
                service: service, accessKey: accessKey.revealed, mode: mode)
            plan.serverName = string.serverName
            return plan
        }
        guard let server, let service, let ak else {
            throw ValidationError("give --enroll, or --server, --service and --ak")
        }
        return FleetPlan(
            host: server.host, port: Int(server.port), trust: trust ?? .systemRoots, service: service,
            accessKey: try secret(in: ak, "the access key"), mode: mode)
    }

    /// The first line of a file or of standard input. Other users see arguments, so no argument is a key. The errors do not
    /// repeat the argument, because a person may have given a key all the same.
    private func secret(in file: String, _ what: String) throws -> String {
        let line: String?
        if file == "-" {
            line = readLine()
        } else if let text = try? String(contentsOfFile: file, encoding: .utf8) {
            line = text.split(whereSeparator: \.isNewline).first.map(String.init)
        } else {
            throw ValidationError("\(what) comes from a file or, with -, from standard input: no such file can be read")
        }
        guard let line, !line.isEmpty else { throw ValidationError("\(what) is missing: its file is empty") }
        return line
    }

    /// A server limits connections by address, and an address has a limited number of ports.
    private func loopbackSources(_ plan: FleetPlan) -> [String] {
        guard plan.host.hasPrefix("127."), plan.vehicles > 8000 else { return [] }
        return (1...min(250, (plan.vehicles + 7999) / 8000)).map { "127.0.0.\($0)" }
    }
}

extension FleetPlan.Mode: ExpressibleByArgument {}
