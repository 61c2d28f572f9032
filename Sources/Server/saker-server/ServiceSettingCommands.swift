import ArgumentParser
import ConfigurationFile
import Glibc
import ServerRuntime
import Terminal
import TrackStore

extension Services {
    struct Answers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say how the Web API answers the clients of a service, or show it.",
            discussion: """
                Clients of the published service disagree on these answers. "default" is what [api] in server.toml says. The \
                running server follows at once. Without an option the command shows what the service has.

                Example: saker-server service answers 1 --vertexes text
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Option(
            help: ArgumentHelp(
                "How fence/list writes vertices: objects, text or default (fence_vertexes_as_text).",
                valueName: "form"))
        var vertexes: String?
        @Option(
            help: ArgumentHelp(
                "The status of entity/delete for an unknown entity: 3003, 0 or default (unknown_entity_status).",
                valueName: "status"))
        var unknownEntity: String?

        func run() async throws {
            let vertices = try Self.choice(VertexForm.self, vertexes, of: "--vertexes")
            let status = try Self.choice(UnknownEntityStatus.self, unknownEntity, of: "--unknown-entity")
            let answers = try await ServiceAdministration(try file.load()).changeAnswers(of: service) {
                if let vertices { $0.vertices = vertices.value }
                if let status { $0.unknownEntity = status.value }
            }
            Output.print("Service \(service): \(answers.text)")
        }

        /// What an option chooses; `value` nil: what the configuration says.
        private struct Choice<Value> {
            let value: Value?
        }

        /// Nil when the option is not given.
        private static func choice<Value: RawRepresentable<String> & CaseIterable>(
            _ type: Value.Type, _ text: String?, of option: String
        ) throws -> Choice<Value>? {
            guard let text else { return nil }
            if text == "default" { return Choice(value: nil) }
            guard let value = Value(rawValue: text) else {
                let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
                throw ServerError(.usage, "\(option) \"\(text)\": it must be \(names) or default")
            }
            return Choice(value: value)
        }
    }

    struct SetAppCode: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-app-code",
            abstract: "Set the app code of a service, which is wanted beside its keys, or remove it.",
            discussion: """
                Reads the code from standard input, because arguments are public. Vehicles then need it as app_code in \
                [service] of agent.toml, and requests of the Web API as mcode. Vehicles that are logged in go on; the next \
                login without the code is refused.

                Example: saker-server service set-app-code 1 < code.txt
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Flag(help: "Remove the app code: the keys alone are enough again.")
        var clear = false

        func run() async throws {
            let configuration = try file.load()
            let code = clear ? nil : Secret(try Self.read())
            try await ServiceAdministration(configuration).setAppCode(code, of: service)
            Output.print("Service \(service): " + (clear ? "no app code any more" : "the app code is set"))
        }

        /// The first line of standard input.
        private static func read() throws -> String {
            if isatty(STDIN_FILENO) == 1 { Output.ask("App code: ") }
            guard let line = readLine(), !line.isEmpty else {
                throw ServerError(
                    .usage,
                    "no app code: give it on standard input, as in `saker-server service set-app-code 1 < code.txt`")
            }
            return line
        }
    }

    struct KeepPoints: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retention", abstract: "Say for how many days a service keeps its points.",
            discussion: """
                The running server removes older points within an hour, for good. A point goes when it was measured and \
                received before the time. What the server answers about trips and stays then begins later. Entities, fences \
                and alarms stay.

                Example: saker-server service retention 1 90
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(
            help: ArgumentHelp(
                "1 ... 36500, forever, or default: what retention_days in [store] says.", valueName: "days"))
        var days: String

        func run() async throws {
            guard let retention = Retention(days) else {
                throw ServerError(
                    .usage,
                    "\"\(days)\" is no time to keep points: give 1 ... \(Retention.mostDays) days, forever or default")
            }
            let configuration = try file.load()
            try await ServiceAdministration(configuration).setRetention(retention, of: service)
            let kept = retention.days(standard: configuration.store.retentionDays)
            Output.print(
                "Service \(service) keeps its points "
                    + (kept.map { "for \($0) day\($0 == 1 ? "" : "s")" } ?? "for ever"))
        }
    }
}
