import AgentControl
import ArgumentParser
import FenceCommands
import Glibc
import JSON
import Terminal

extension AttributesCommand {
    /// `saker attributes provide`
    struct Provide: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Runs a command and gives each point the values of the newest line that the command prints.",
            discussion: """
                Each line is a JSON object, such as {"fuel": 51, "driver": "Li Wei"}. The command runs once. When it ends, saker \
                ends with the same exit code. Without a command, saker reads the lines from standard input.

                Examples:
                  saker attributes provide -- read-obd --json
                  mosquitto_sub -t van/obd | saker attributes provide
                """)

        @OptionGroup var agent: AgentOptions

        @Argument(parsing: .postTerminator, help: "The command, after --.")
        var command: [String] = []

        func run() async throws {
            let lines = LineReader()
            let child = command.isEmpty ? nil : try ChildProcess.start(command)
            lines.start(reading: child?.output ?? STDIN_FILENO)
            do {
                try await provide(lines)
            } catch {
                child?.end()
                throw agent.failure(error)
            }
            guard let child else { return }
            let code = child.wait()
            guard code == 0 else { Glibc.exit(code) }
        }

        /// Returns when the lines end.
        private func provide(_ lines: LineReader) async throws {
            let provision: AttributeProvision
            do {
                provision = try await agent.client.provide()
            } catch {
                throw agent.failure(error)
            }
            defer { provision.close() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [agent] in try await Self.answer(lines, provision, isJSON: agent.json) }
                group.addTask { await lines.untilEnd() }
                // Ends with the last line, or with an error of the agent.
                defer { group.cancelAll() }
                try await group.next()
            }
        }

        @concurrent
        private static func answer(
            _ lines: LineReader, _ provision: AttributeProvision, isJSON: Bool
        ) async throws {
            var answer: ProvidedAttributes?
            var told: Swift.Set<String> = []
            while !Task.isCancelled {
                let asked: ProvideAttributesReply
                do {
                    asked = try await provision.next(answer)
                } catch is CancellationError {
                    return
                } catch {
                    // The lines have ended, and with them the connection.
                    if Task.isCancelled { return }
                    throw error
                }
                answer = ProvidedAttributes(request: asked.request, attributes: lines.newest)
                if isJSON { Output.print(json: try JSONValue(encoding: asked).description) }
                // Each message is shown once, because the agent sends it with every point.
                for (value, text) in zip(asked.ignored, AttributeText.ignored(asked.ignored))
                where told.insert(value.key).inserted {
                    Output.complain("saker: \(text)")
                }
            }
        }
    }
}
