import AgentControl
import ArgumentParser
import FenceCommands
import Glibc
import JSON
import Terminal

/// `saker attributes`
struct AttributesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attributes",
        abstract: "Sets the values of the service's own columns (fuel, driver, ...) for later points.",
        discussion: """
            The service must have a track column for each key, except for floor, on which floor of a building the vehicle is:
            fences with a floor are judged by it. The command names the keys that it ignores.

            Examples:
              saker attributes set fuel=51 driver="Li Wei"
              saker attributes set fuel=51.5 --ttl 60      forgotten after a minute
              saker attributes set floor=2
              saker attributes show
              saker attributes clear driver
              saker attributes provide -- read-obd --json  one JSON object a line
            """,
        subcommands: [Set.self, Clear.self, Show.self, Provide.self], defaultSubcommand: Show.self)

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets values that all later points carry.",
            discussion: """
                The column decides the type of a value; before the columns are known, the value's form decides. Exit code 1 \
                when a key was ignored.
                """)

        @OptionGroup var agent: AgentOptions

        @Argument(help: ArgumentHelp("What to set.", valueName: "key=value"))
        var values: [String]

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Forget the values after this time (default: never).", valueName: "seconds"))
        var ttl: Double?

        func validate() throws {
            for text in values where AttributeText.pair(text) == nil {
                throw ValidationError("'\(text)' is not an attribute: give key=value")
            }
        }

        func run() async throws {
            let known: AttributesReply = try AgentOptions.decoded(try await agent.reply(.getAttributes))
            let types = Dictionary((known.columns ?? []).map { ($0.key, $0.type) }) { $1 }
            let pairs = values.compactMap(AttributeText.pair).map { key, text in
                (key, AttributeText.value(text, of: key, type: types[key]))
            }
            let reply = try await agent.reply(
                .setAttributes,
                [
                    "attributes": .object(Dictionary(pairs) { $1 }), "ttl": ttl.map(JSONValue.double),
                ])
            let done: SetAttributesReply = try AgentOptions.decoded(reply)
            if agent.json {
                Output.print(json: reply.description)
            } else {
                if !done.taken.isEmpty { Output.print("Set: \(done.taken.joined(separator: ", "))".printable) }
                if !done.judged {
                    Output.print("The service's columns are not known yet: values are checked at the first login.")
                }
            }
            guard done.ignored.isEmpty else {
                let lines = AttributeText.ignored(done.ignored)
                for line in lines.dropLast() { Output.complain("saker: \(line)") }
                throw CommandFailure(.failed, lines.last ?? "")
            }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forgets the values of these keys; without a key, all values.")

        @OptionGroup var agent: AgentOptions

        @Argument(help: "Only these keys.")
        var keys: [String] = []

        func run() async throws {
            let parameters: [String: JSONValue?] = ["keys": keys.isEmpty ? nil : .array(keys.map(JSONValue.string))]
            try await agent.call(.clearAttributes, parameters) { (reply: ClearAttributesReply) in
                guard !reply.cleared.isEmpty else { return ["Nothing was set."] }
                return ["Forgot: \(reply.cleared.joined(separator: ", "))".printable]
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows the values, where they come from, and the service's columns.")

        @OptionGroup var agent: AgentOptions

        func run() async throws {
            try await agent.call(.getAttributes) { (reply: AttributesReply) in AttributesView.lines(reply) }
        }
    }
}

/// Shows the attributes to a person.
enum AttributesView {
    static func lines(_ reply: AttributesReply) -> [String] {
        values(reply) + [""] + columns(reply) + providers(reply)
    }

    private static func values(_ reply: AttributesReply) -> [String] {
        guard !reply.attributes.isEmpty else { return ["No attributes."] }
        var table = TextTable([
            .text("KEY"), .text("VALUE"), TextTable.Column("SOURCE", rank: 2), TextTable.Column("AGE", rank: 1),
        ])
        for attribute in reply.attributes {
            let time =
                attribute.ttl.map { "for \(duration($0))" } ?? attribute.age.map { "\(duration($0)) ago" } ?? ""
            table.add(
                attribute.key, attribute.value.stringValue ?? attribute.value.description, attribute.source.rawValue,
                time)
        }
        return table.lines(width: TerminalSize.columns)
    }

    private static func columns(_ reply: AttributesReply) -> [String] {
        guard let columns = reply.columns else { return ["Columns: not known before the first login"] }
        guard !columns.isEmpty else { return ["Columns: the service has none"] }
        return ["Columns: " + columns.map { "\($0.key) (\($0.type))" }.joined(separator: ", ").printable]
    }

    private static func providers(_ reply: AttributesReply) -> [String] {
        reply.providers.map { provider in
            let late = provider.late > 0 ? ", \(Quantity.count(provider.late)) too late" : ""
            return "Provider: process \(provider.process), \(Quantity.count(provider.answered, "answer"))\(late)"
        }
    }

    /// `seconds` within what 64 bits of milliseconds hold.
    private static func duration(_ seconds: Double) -> String {
        let milliseconds = min(max(seconds, 0), 1e12) * 1000
        return milliseconds < 1000 ? "\(Quantity.decimal(seconds, 1)) s" : DurationText.text(Int64(milliseconds))
    }
}

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
