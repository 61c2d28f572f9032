import AgentControl
import ArgumentParser
import JSON
import NIOCore
import Terminal
import TrackModel

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
