import ArgumentParser
import JSON
import Terminal
import Varlink

/// `saker call`
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Makes any request of the Web API and prints its answer as JSON.",
        discussion: """
            On a vehicle the request goes through the agent and needs no key. The server decides what an agent may ask
            for: usually only about its own entity, which need not be named.

            Examples:
              saker call track/getlatestpoint coord_type_output=wgs84
              saker call track/getdistance start_time=1772670000 end_time=1772673600
              saker call entity/list --server https://fleet.example:8443 --service-id 1 --ak-file key
            """)

    @OptionGroup var server: ServerOptions

    @Argument(help: ArgumentHelp("The request, as in track/gettrack.", valueName: "path"))
    var path: String

    @Argument(help: ArgumentHelp("Its parameters, except ak and service_id.", valueName: "key=value"))
    var parameters: [String] = []

    func validate() throws {
        guard path.contains("/"), !path.contains(where: { $0.isWhitespace || $0 == "?" || $0 == "#" }) else {
            throw ValidationError("'\(path)' is not a request: give one such as track/gettrack")
        }
        _ = try pairs()
    }

    /// The parameters in their order. A value is everything after the first `=`.
    func pairs() throws -> [(String, String)] {
        try parameters.map { text in
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw ValidationError("'\(text)' is not a parameter: give it as key=value")
            }
            let key = String(text[..<equals])
            guard key != "ak", key != "service_id" else {
                throw ValidationError("\(key) cannot be given here: use --ak-file and --service-id")
            }
            return (key, String(text[text.index(after: equals)...]))
        }
    }

    /// Whether the request changes something: such requests are POSTs.
    static func isPost(_ path: String) -> Bool {
        let action = path.split(separator: "/").last ?? ""
        return ["add", "create", "delete", "update"].contains { action.hasPrefix($0) }
    }

    func run() async throws {
        let path = path.hasPrefix("/") ? String(path.dropFirst()) : path
        try await WebClient.with(server) { client in
            let (status, answer) = try await client.ask(path, try pairs(), post: Self.isPost(path))
            Output.print(json: answer.description)
            if status != 0 { throw client.refusal(status, answer) }
        }
    }
}
