import ArgumentParser
import ConfigurationFile
import Glibc
import Logging
import ServerRuntime
import Systemd
import TrackModel
import TrackStore

/// Arguments to an exit code: 0 done, 1 refused or failed, 2 wrong usage.
@main
enum Program {
    static func main() async {
        // A pipe behind us that nobody reads any more must not end the process by a signal.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try SakerServer.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as ServerError where error.code != .usage {
            complain(error.detail, status: 1)
        } catch let error as ServerError {
            complain(error.detail + "\nSee 'saker-server --help'.", status: 2)
        } catch {
            // Help and version are no errors.
            guard SakerServer.exitCode(for: error) != .success else { SakerServer.exit(withError: error) }
            complain(SakerServer.fullMessage(for: error), status: 2)
        }
    }

    private static func complain(_ message: String, status: Int32) -> Never {
        let line = Array(((message.hasPrefix("Error: ") ? "" : "saker-server: ") + message + "\n").utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(status)
    }
}

struct SakerServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker-server",
        abstract: "Stores the tracks of a fleet, and answers the Yingyan v3 Web API.",
        discussion: """
            Begin with `saker-server init`, then `saker-server serve`. Exit codes: 0 done, 1 refused or failed (the reason \
            on standard error), 2 wrong usage.
            """,
        version: SakerVersion.text,
        subcommands: [Serve.self, Initialize.self, Services.self, Columns.self, Certificates.self, Pushes.self],
        defaultSubcommand: Serve.self)
}

struct ConfigurationOption: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The configuration file. Default: the first of \(ServerConfiguration.usualPaths.joined(separator: ", ")).",
            valueName: "file"))
    var config: String?

    func load() throws -> ServerConfiguration {
        do throws(ConfigurationError) {
            return try ServerConfiguration.load(path: config)
        } catch {
            throw ServerError(.configuration, error.detail)
        }
    }
}

// MARK: - serve

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the server until SIGTERM or SIGINT.",
        discussion: "SIGHUP reads certificates and the log level again. Logs go to standard error, or to the journal.")

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Print the configuration in force as TOML, secrets hidden and defaults marked, and end.")
    var printConfig = false

    @Flag(help: "Check the configuration, the certificates and the store, and end.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Write the ports in use as JSON into this file once all of them listen: {\"device\":7443,\"https\":8443}.",
            valueName: "file"))
    var portsFile: String?

    func run() async throws {
        let configuration = try file.load()
        if printConfig {
            print(configuration.effective.toml, terminator: "")
            return
        }
        let threshold = LogThreshold(configuration.logLevel)
        let make = SystemLog.handlerFactory(identifier: "saker-server", level: .trace)
        LoggingSystem.bootstrap { AdjustableLogHandler(make($0), threshold: threshold) }
        let logger = Logger(label: "saker-server")
        for warning in configuration.effective.warnings {
            logger.warning("\(warning)", metadata: ["message_id": "\(MessageID.credentialWarning)"])
        }
        let runtime = ServerRuntime(
            configuration: configuration, portsFile: portsFile, notifier: .takingEnvironment(), threshold: threshold,
            logger: logger)
        guard check else { return try await runtime.run() }
        try await runtime.check()
        print("\(configuration.effective.path) is sound.")
    }
}

// MARK: - init

struct Initialize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the database, a service with its access key, certificates and server.toml.",
        discussion: """
            Without --certificate and --key, init makes a private certificate authority (10 years) and a server certificate \
            (825 days) for the given hosts. The enrolment string makes agents trust this authority. Init overwrites no file. \
            It prints the enrolment string for the first vehicle; give it to `saker enroll`.

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

    func run() async throws {
        var initialization = Initialization(directory: directory, name: name, hosts: host)
        (initialization.certificate, initialization.key, initialization.authority) = (certificate, key, ca)
        initialization.devicePort = devicePort.map(Int.init)
        initialization.httpsPort = httpsPort.map(Int.init)
        initialization.httpPort = httpPort.map(Int.init)
        let made = try await initialization.run()
        print("Made in \(directory):")
        for (name, purpose) in made.files { print("  \(padded(name, to: 16))\(purpose)") }
        print("\nService \(made.service.rawValue), \"\(name)\"")
        printKey(made.accessKey, made.enrollment)
        print("\nNext: saker-server serve --config \(made.configurationPath)")
    }
}

// MARK: - service

struct Services: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Services (tenants) and their access keys. Works while the server runs.",
        subcommands: [Create.self, List.self, RotateKey.self, SetAppCode.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a service with an access key.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The name of the service, for people.")
        var name: String
        @Flag(help: "Web API requests with this key must be signed; prints the signing key (sk) too. Not for agents.")
        var signed = false

        func run() async throws {
            let configuration = try file.load()
            let made = try await ServiceAdministration(configuration).create(named: name, isSigned: signed)
            print("Service \(made.service.rawValue), \"\(name)\"")
            try printKey(made, configuration)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all services.")

        @OptionGroup var file: ConfigurationOption

        func run() async throws {
            print("     ID  NAME")
            for service in try await ServiceAdministration(try file.load()).list() {
                let number = String(service.id.rawValue)
                let code = service.appCode == nil ? "" : "  (app code)"
                print(String(repeating: " ", count: max(0, 7 - number.count)) + number + "  " + service.name + code)
            }
        }
    }

    struct RotateKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate-key",
            abstract: "Make a new access key for a service. The earlier keys become invalid at once.",
            discussion:
                "Sessions with an earlier key end within seconds. "
                + "Their vehicles are refused until they are enrolled again.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Flag(help: "Keep the earlier keys valid, to change vehicles one by one.")
        var keepOld = false
        @Flag(help: "Web API requests with this key must be signed; prints the signing key (sk) too. Not for agents.")
        var signed = false

        func run() async throws {
            let configuration = try file.load()
            let made = try await ServiceAdministration(configuration)
                .rotateKey(of: service, keepingOld: keepOld, isSigned: signed)
            print(
                "Service \(made.service.rawValue): " + (keepOld ? "a further key" : "a new key, the earlier ones ended")
            )
            try printKey(made, configuration)
        }
    }
}

// MARK: - column

extension AttributeType: ExpressibleByArgument {}
extension ColumnKind: ExpressibleByArgument {}

struct Columns: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "column",
        abstract: "The custom columns of a service: additional values of points and entities.",
        discussion: """
            Works while the server runs. A vehicle learns new columns with its next login (saker reconnect).

            Example: saker-server column add 1 fuel double --description litres
            """,
        subcommands: [Add.self, Delete.self, List.self])

    struct Place: ParsableArguments {
        @OptionGroup var file: ConfigurationOption
        @Option(help: "Whose column: each point's (track) or each entity's (entity).")
        var kind = ColumnKind.track
        @Argument(help: "The number of the service.")
        var service: Int64

        func administration() async throws -> ServiceAdministration {
            try await ServiceAdministration(try file.load())
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a column.")

        @OptionGroup var place: Place
        @Argument(help: "Its key: ASCII letters, digits, '_' and '-'.")
        var key: String
        @Argument(help: "Its type; entity columns are strings.")
        var type: AttributeType?
        @Option(help: ArgumentHelp("For people.", valueName: "text"))
        var description = ""
        @Flag(help: "Entities can be selected by it (entity columns only).")
        var search = false

        func run() async throws {
            guard let type = type ?? (place.kind == .entity ? .string : nil) else {
                throw ServerError(.usage, "give the type of the column: int, double or string")
            }
            try await place.administration().addColumn(
                key, type: type, kind: place.kind, description: description, isSearchable: search, to: place.service)
            print("Service \(place.service): \(place.kind.rawValue) column \(key), \(type.rawValue)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a column. The column's values of entities are deleted, those of points are hidden.")

        @OptionGroup var place: Place
        @Argument(help: "Its key.")
        var key: String

        func run() async throws {
            try await place.administration().deleteColumn(key, kind: place.kind, of: place.service)
            print("Service \(place.service): \(place.kind.rawValue) column \(key) is deleted")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all columns of a kind.")

        @OptionGroup var place: Place

        func run() async throws {
            let columns = try await place.administration().columns(of: place.service, kind: place.kind)
            let width = max(3, columns.map(\.key.count).max() ?? 0) + 2
            print("\(padded("KEY", to: width))TYPE    DESCRIPTION")
            for column in columns {
                let search = column.isSearchable ? " (searchable)" : ""
                print(padded(column.key, to: width) + padded(column.type.rawValue, to: 8) + column.description + search)
            }
        }
    }
}

// MARK: - certificate

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
            let made = try CertificateRenewal.renew(try file.load(), hosts: host, authorityKey: caKey)
            print("New certificate for \(made.hosts.joined(separator: ", ")), until \(made.end).")
            print("Reload a running server: systemctl reload saker-server, or send it SIGHUP.")
        }
    }
}

// MARK: - Printing

func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(2, width - text.count))
}

private func printKey(_ key: ServiceAdministration.NewKey, _ configuration: ServerConfiguration) throws {
    do throws(ServerError) {
        let enrollment = try configuration.enrollmentString(service: key.service, accessKey: key.accessKey)
        printKey(key, enrollment)
    } catch {
        // The key exists now and must not be lost for want of a host name.
        printKey(key, nil)
        throw error
    }
}

private func printKey(_ key: ServiceAdministration.NewKey, _ enrollment: EnrollmentString?) {
    // A signed key is for clients of the Web API; an agent logs in with a plain one.
    printKey(key.accessKey, key.signingKey == nil ? enrollment : nil)
    guard let signingKey = key.signingKey else { return }
    print("Signing key (sk): \(signingKey.revealed)")
    print(
        key.isSigningKeySealed
            ? "The signing key is stored encrypted."
            : "The signing key is stored readable, because the server needs it to check signatures: whoever can read the "
                + "database can read it. key_file in [store] makes the server encrypt it.")
}

private func printKey(_ accessKey: Secret, _ enrollment: EnrollmentString?) {
    print("Access key (ak): \(accessKey.revealed)")
    print("Only a hash of the access key is stored: this is the only time it is shown.")
    guard let enrollment else { return }
    print(
        "\nEnrolment string: run `saker enroll` with it on a vehicle. It holds the access key; treat it like a password.\n"
    )
    print(enrollment.encoded.revealed)
}
