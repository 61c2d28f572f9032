import ArgumentParser
import ConfigurationFile
import Glibc
import ServerRuntime
import Terminal

extension Services {
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
}
