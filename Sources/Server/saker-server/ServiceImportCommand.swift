import ArgumentParser
import ConfigurationFile
import Glibc
import ServerRuntime
import Terminal
import TrackStore

extension Services {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take over a service with the number and the keys that its clients have already.",
            discussion: """
                Reads the access key (ak) from the first line of standard input, and the signing key (sk) from the second \
                line if there is one, because arguments are public. A key with a signing key wants signed requests. Clients \
                then need only the address of this server. Run the command once for each key.

                Example: saker-server service import 200123 --name "My fleet" < keys.txt
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service (service_id).")
        var service: Int64
        @Option(help: ArgumentHelp("The name of the service, for people. It makes the service.", valueName: "name"))
        var name: String?
        @OptionGroup var options: KeyScopeOptions

        func run() async throws {
            let rights = try options.rights(usual: [.read, .write])
            let configuration = try file.load()
            let (key, secret) = try Self.read()
            let done = try await ServiceAdministration(configuration)
                .importKey(key, secret: secret, of: service, named: name, rights: rights)
            Output.print("Service \(service)" + (done.isNew ? " is made" : " was there already"))
            Output.print(
                "The key \(done.number) opens it for \(rights.scopes.text)" + (secret == nil ? "" : ", signed"))
        }

        private static func read() throws -> (key: Secret, secret: Secret?) {
            func ask(_ prompt: String) -> String? {
                if isatty(STDIN_FILENO) == 1 { Output.ask(prompt) }
                return readLine().map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }
            }
            guard let key = ask("Access key (ak): "), !key.isEmpty else {
                throw ServerError(.usage, "no access key: give ak, and sk on a second line, on standard input")
            }
            let secret = ask("Signing key (sk), empty for none: ") ?? ""
            return (Secret(key), secret.isEmpty ? nil : Secret(secret))
        }
    }
}
