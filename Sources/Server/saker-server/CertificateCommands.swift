import ArgumentParser
import ServerRuntime
import Terminal

struct Certificates: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "The certificate that `init` made.", subcommands: [Renew.self])

    struct Renew: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the server's certificate and key with new ones from the fleet's own authority.",
            discussion: "Agents still trust it. Afterwards reload a running server: systemctl reload saker-server.")

        @OptionGroup var file: ConfigurationOption
        @Option(
            help: ArgumentHelp("Names and addresses; default: those of the present certificate.", valueName: "host"))
        var host: [String] = []
        @Option(
            help: ArgumentHelp("The authority's key. Default: ca-key.pem beside its certificate.", valueName: "file"))
        var caKey: String?

        func run() async throws {
            let made = try CertificateRenewal.renew(try file.load(for: .certificates), hosts: host, authorityKey: caKey)
            Output.print("New certificate for \(made.hosts.joined(separator: ", ")), until \(made.end).")
            Output.print(
                "A running server takes it for new connections by itself, at once with systemctl reload saker-server.")
        }
    }
}
