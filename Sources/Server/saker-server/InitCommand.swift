import ArgumentParser
import ServerRuntime
import Terminal
import TrackModel

struct Initialize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract:
            "Make the database, a service with an access key and a token for vehicles, certificates and server.toml.",
        discussion: """
            Without --certificate and --key, init makes a private certificate authority (10 years) and a server certificate \
            (825 days) for the given hosts, and always the authority for vehicles' own certificates. Init overwrites no file. It \
            prints an access key for clients of the Web API, and the line with which the first \(Initialization.tokenUses) \
            vehicles get certificates of their own; give this line to `saker enroll`.

            Example: saker-server init --host tracks.example.net --host 192.0.2.7 --name "My fleet"
            """)

    @Option(help: ArgumentHelp("Where the files go; made when missing.", valueName: "directory"))
    var directory = "/var/lib/saker-server"

    @Option(help: ArgumentHelp("The name of the first service, for people.", valueName: "name"))
    var name = "Fleet"

    @Option(
        help: ArgumentHelp(
            "Name or address under which agents and clients reach this server; repeat for more. The first one goes into "
                + "enrolment strings.", valueName: "host"))
    var host: [String]

    @Option(help: ArgumentHelp("Use this certificate (PEM, with its chain) instead of making one.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("Its private key (PEM, no password).", valueName: "file"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "With --certificate: the authority that agents must trust. Default: the authorities of their systems.",
            valueName: "file"))
    var ca: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("TCP port for agents. Default: 7443.", valueName: "port"))
    var devicePort: UInt16?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("TCP port of the Web API over HTTPS. Default: 8443.", valueName: "port"))
    var httpsPort: UInt16?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "TCP port of the Web API over plain HTTP, on this machine only. Default: 8080.", valueName: "port"))
    var httpPort: UInt16?

    @Flag(
        help: ArgumentHelp(
            "Vehicles log in with the access key, under any name, instead of with certificates of their own: for vehicles whose "
                + "programs know no tokens. Who opens one vehicle then has the key to all."))
    var legacyDevice = false

    func run() async throws {
        var initialization = Initialization(directory: directory, name: name, hosts: host)
        (initialization.certificate, initialization.key, initialization.authority) = (certificate, key, ca)
        initialization.devicePort = devicePort.map(Int.init)
        initialization.httpsPort = httpsPort.map(Int.init)
        initialization.httpPort = httpPort.map(Int.init)
        initialization.isForLegacyDevices = legacyDevice
        let made = try await initialization.run()
        Output.print("Made in \(directory):")
        Output.pairs(made.files)
        Output.print()
        Output.print("Service \(made.service.rawValue), \"\(name)\"")
        printKey(made.accessKey, made.token == nil ? made.enrolment : nil)
        if let token = made.token, let line = made.enrolment {
            Output.print("")
            printToken(token, line)
        } else if made.enrolment == nil {
            Output.print()
            Output.print(
                "Vehicles get their certificates over HTTPS, which has no port that they can be told: set https_port in [web]"
            )
            Output.print("of server.toml, then `saker-server token create \(made.service.rawValue)`.")
        }
        // The unit takes these two files by itself.
        let isUnits = ServerConfiguration.usualPaths.contains(made.configurationPath)
        Output.print()
        Output.print(
            "Next: "
                + (isUnits
                    ? "sudo systemctl enable --now saker-server"
                    : "saker-server serve --config \(made.configurationPath)"))
    }
}

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
