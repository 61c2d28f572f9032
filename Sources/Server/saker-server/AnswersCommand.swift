import ArgumentParser
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
}
