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

extension ServiceCommand {
    /// Three calls in one command, so that a refused name leaves the vehicle as it was.
    struct Restart: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stops the service and starts it again, as another entity if you name one.",
            discussion: """
                Gathering goes on afterwards if it was on. When the server refuses the name, the service runs as before.

                A vehicle with a certificate of its own has the name that the server knows. The server's operator changes it, and
                nothing is to be done on the vehicle: saker-server device move van_07 van_09
                """)

        @OptionGroup var agent: AgentOptions

        @Option(name: .long, help: ArgumentHelp("Log in as this entity (default: the same).", valueName: "name"))
        var entity: String?

        func validate() throws {
            if let entity, let problem = EntityName.problem(withNew: entity) { throw ValidationError(problem) }
        }

        func run() async throws {
            let before: AgentStatus = try AgentOptions.decoded(
                try await agent.reply(.getStatus)["status"] ?? .null)
            let wasGathering = before.gather.state != .stopped
            if before.service.state != .stopped {
                try await refuseImpossible(entity)
                _ = try await agent.reply(.stopService, [:], timeout: .seconds(20))
            }
            var outcome: JSONValue
            do {
                outcome = try await start(entity)
            } catch let error as AgentControlError where error.code == .parameterError {
                guard before.service.state != .stopped else { throw agent.failure(error) }
                try await goBack(before, wasGathering, error)
                return
            } catch let error as AgentControlError {
                // The service is started all the same, and so must gathering be.
                if wasGathering { _ = try? await gather() }
                throw agent.failure(error)
            }
            // The disk has what the last of the calls left.
            let last = wasGathering ? try await gather() : outcome
            if agent.json {
                Output.print(json: outcome.description)
                return try await agent.demandRemembered(last, of: .startService)
            }
            let reply: StartServiceReply = try AgentOptions.decoded(outcome)
            let name = entity ?? before.service.entity
            let state = reply.outcome == .success ? "is online" : "is offline\(reply.reason.map { ": \($0)" } ?? "")"
            Output.print("The service runs\(name.map { " as \($0)" } ?? "") and \(state).".printable)
            Output.print(wasGathering ? "Gathering." : "Gathering is off, as before: saker gather start")
            try await agent.demandRemembered(last, of: .startService)
        }

        /// A name that this vehicle cannot have is refused while everything still runs.
        private func refuseImpossible(_ entity: String?) async throws {
            guard let entity else { return }
            do {
                _ = try await start(entity)
            } catch let error as AgentControlError where error.code == .alreadyStarted {
                return
            } catch let error as AgentControlError {
                throw agent.failure(error)
            }
        }

        private func start(_ entity: String?) async throws -> JSONValue {
            do {
                return try await agent.client.call(
                    .startService, parameters: ["entity": entity.map(JSONValue.string)], timeout: .seconds(45))
            } catch let error as AgentControlError {
                throw error
            } catch {
                throw agent.failure(error)
            }
        }

        /// Gathering was on, and is a wish: a receiver that is away for a moment does not end it.
        @discardableResult
        private func gather() async throws -> JSONValue {
            try await agent.reply(.startGather, ["keep_trying": true])
        }

        /// The service runs as it ran before; the failure says why.
        private func goBack(_ before: AgentStatus, _ wasGathering: Bool, _ cause: AgentControlError) async throws {
            let name = before.service.entity
            do {
                _ = try await start(name)
            } catch {
                let reason = (error as? AgentControlError)?.reason ?? "\(error)"
                throw CommandFailure(
                    .failed,
                    "\(cause.reason). The service is stopped: it could not be started again\(name.map { " as \($0)" } ?? ""), because "
                        + "\(reason). Try: saker service start\(name.map { " --entity '\($0)'" } ?? "")".printable)
            }
            if wasGathering { try await gather() }
            throw CommandFailure(
                .failed, "\(cause.reason). The service runs\(name.map { " as \($0)" } ?? "") again.".printable)
        }
    }
}
