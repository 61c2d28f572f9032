import AgentControl
import ArgumentParser
import Glibc
import JSON
import NIOCore
import Terminal
import TrackModel

/// `saker service`
struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Starts or stops the service: the connection to the server.",
        discussion: """
            The service uploads points; gathering (saker gather) makes them. After a restart the agent continues as told
            last.

            Examples:
              saker service start
              saker service start --entity van_07
              saker service stop --timeout 30
              saker service restart --entity van_09        the vehicle has another name from now on
            """,
        subcommands: [Start.self, Stop.self, Restart.self])

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Logs in and uploads the cached points; tries again until it succeeds.")

        @OptionGroup var agent: AgentOptions

        @Option(
            name: .long,
            help: ArgumentHelp(
                "Log in as this entity (default: the configured one, or the last one).", valueName: "name"))
        var entity: String?

        func validate() throws {
            if let entity, let problem = EntityName.problem(withNew: entity) { throw ValidationError(problem) }
        }

        func run() async throws {
            // Connect, handshake and login may each take ten seconds.
            try await agent.call(
                .startService, ["entity": entity.map(JSONValue.string)], timeout: .seconds(45)
            ) { (reply: StartServiceReply) in
                let lines =
                    switch reply.outcome {
                    case .success: ["The service runs and is online."]
                    case .successButOffline:
                        [
                            "The service runs and is offline\(reply.reason.map { ": \($0)" } ?? "")".printable,
                            "It keeps trying, and no point is lost meanwhile. See: saker status",
                        ]
                    }
                return lines + (reply.gathering == false ? ["Gathering is off: saker gather start"] : [])
            }
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stops gathering, uploads the cached points if online, and disconnects.")

        @OptionGroup var agent: AgentOptions

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Seconds for the last upload, 0 to 3600 (default: 10).", valueName: "seconds"))
        var timeout: Double?

        func validate() throws {
            if let timeout, !(0...3600).contains(timeout) {
                throw ValidationError("--timeout \(timeout) is out of range: give 0 to 3600 seconds")
            }
        }

        func run() async throws {
            let time = TimeAmount.milliseconds(Int64((timeout ?? 10) * 1000)) + .seconds(10)
            try await agent.call(
                .stopService, ["timeout": timeout.map(JSONValue.double), "by": StopOrigin.parameter], timeout: time
            ) { (reply: StopServiceReply) in
                let left =
                    reply.remaining == 0
                    ? "nothing is left in the cache."
                    : "\(Quantity.count(reply.remaining, "point")) left in the cache for the next start."
                return ["The service is stopped: \(Quantity.count(reply.uploaded, "point")) uploaded, \(left)"]
            }
        }
    }
}

/// `saker gather`
struct GatherCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gather",
        abstract: "Starts or stops gathering, which makes track points of the receiver's fixes.",
        discussion: """
            The service must run first: saker service start

            Examples:
              saker gather start
              saker gather stop
            """,
        subcommands: [Start.self, Stop.self])

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Makes a track point each gather interval.")

        @OptionGroup var agent: AgentOptions

        @Flag(
            help: "Start also while gpsd or the receiver is away, and make points as soon as they are there.")
        var keepTrying = false

        func run() async throws {
            try await agent.call(.startGather, ["keep_trying": keepTrying ? .bool(true) : nil]) {
                (reply: StartGatherReply) in
                guard let reason = reply.reason else { return ["Gathering."] }
                return [
                    "Gathering, and no point is made yet: \(reason)".printable, "It keeps trying. See: saker status",
                ]
            }
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Makes no more track points; the service runs on.")

        @OptionGroup var agent: AgentOptions

        func run() async throws {
            try await agent.call(.stopGather, ["by": StopOrigin.parameter]) { (_: StopGatherReply) in
                ["Gathering is stopped."]
            }
        }
    }
}

/// Who stops: the agent's hooks know that they are hooks.
private enum StopOrigin {
    /// The value of `by`; nil: a person.
    static var parameter: JSONValue? {
        getenv("SAKER_EVENT") == nil ? nil : .string(StopCause.hook.rawValue)
    }
}

/// `saker reconnect`
struct ReconnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconnect",
        abstract: "Connects to the server now instead of at the next try.",
        discussion: "Replaces an open connection. No point is lost.")

    @OptionGroup var agent: AgentOptions

    func run() async throws {
        try await agent.call(.reconnect) { (_: ReconnectReply) in ["The agent tries to connect now. See: saker watch"] }
    }
}
