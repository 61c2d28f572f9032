import AgentControl
import ArgumentParser
import JSON
import Terminal

/// `saker status`
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows whether this vehicle is tracked, and if not, why not.",
        discussion: """
            Examples:
              saker status
              saker status --watch              again every second, in place
              saker status --json | jq .status.link.state
            """)

    @OptionGroup var agent: AgentOptions

    @Flag(name: .long, help: "Show it again and again until Ctrl-C.")
    var watch = false

    @Option(name: .long, help: ArgumentHelp("Seconds between two looks with --watch.", valueName: "seconds"))
    var interval = 1.0

    func validate() throws {
        guard (0.1...3600).contains(interval) else {
            throw ValidationError("--interval \(interval) is out of range: give 0.1 to 3600 seconds")
        }
    }

    func run() async throws {
        guard watch else {
            return try await agent.call(.getStatus) { (reply: Reply) in
                StatusView(reply.status).lines(width: TerminalSize.columns)
            }
        }
        // When the first request fails, the command fails. Later the agent may come and go.
        var reply = try await agent.reply(.getStatus)
        var screen = Screen()
        while true {
            if agent.json {
                Output.print(json: reply.description)
            } else {
                let view = StatusView(try AgentOptions.decoded(reply, as: Reply.self).status)
                Output.styled(screen.draw(view.lines(width: TerminalSize.columns), on: Console.size))
            }
            reply = try await next(&screen)
        }
    }

    /// Waits for the next answer. Until it comes, shows why there is none.
    private func next(_ screen: inout Screen) async throws -> JSONValue {
        while true {
            try await Task.sleep(for: .seconds(interval))
            do {
                return try await agent.reply(.getStatus)
            } catch let failure as CommandFailure where failure.code == .unreachable {
                if agent.json {
                    Output.complain("saker: \(failure)")
                } else {
                    Output.styled(
                        screen.draw([LocalTime.clock(LocalTime.now) + "  \(failure)"], on: Console.size))
                }
            }
        }
    }

    private struct Reply: Decodable {
        var status: AgentStatus
    }
}
