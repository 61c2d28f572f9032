import ArgumentParser
import JSON
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

/// Keys with their scopes.
struct AccessKeys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "The access keys of a service, and what each may be used for. Works while the server runs.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an access key beside the others of a service.",
            discussion: """
                A key for a program that shows tracks needs --scope read; one that sends points needs --scope write. A key \
                for vehicles is made with --legacy-device alone: whoever takes it from a vehicle reads nothing with it.

                Examples:
                saker-server key create 1 --scope read --until 2027-03-01 --address 192.0.2.0/24
                saker-server key create 1 --legacy-device
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @OptionGroup var options: KeyScopeOptions
        @Flag(help: "Web API requests with this key must be signed; prints the signing key (sk) too.")
        var signed = false

        func run() async throws {
            let rights = try options.rights(usual: [])
            let configuration = try file.load()
            let made = try await ServiceAdministration(configuration)
                .createKey(for: service, rights: rights, isSigned: signed)
            Output.print("Service \(service): a further key for \(rights.scopes.text)")
            try printKey(made, configuration)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the access keys of a service by their numbers, with what each may be used for.",
            discussion: "A key with legacy-device lets whoever has it log in as any vehicle of the service.")

        @OptionGroup var file: ConfigurationOption
        @OptionGroup var options: ListOptions
        @Argument(help: "The number of the service.")
        var service: Int64

        func run() async throws {
            let keys = try await ServiceAdministration(try file.load()).keys(of: service)
            Listing<KeyListing>([
                .init("NUMBER", "number", \.hash.number),
                .init("STATE", "state", { ServiceAdministration.state(of: $0) }),
                .init(.text("SCOPES"), "scopes", Self.scopes),
                .init(
                    TextTable.Column("END", rank: 1), "end", { $0.rights.end.map(TimeText.universal) ?? "-" },
                    value: { $0.rights.end.map { .string(TimeText.universal($0)) } }),
                .init(TextTable.Column("MADE", rank: 2), "made", { TimeText.universal($0.created) }),
            ]).show(keys, options)
        }

        /// What the key may be used for, and from where.
        private static func scopes(_ key: KeyListing) -> String {
            var marks = [key.rights.scopes.text]
            if key.isSigned { marks.append("signed") }
            if !key.rights.addresses.isEmpty {
                marks.append("from " + key.rights.addresses.map(\.description).joined(separator: ","))
            }
            if !key.rights.referers.isEmpty {
                marks.append("pages " + key.rights.referers.map(\.text).joined(separator: ","))
            }
            return marks.joined(separator: "  ")
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End one access key of a service; the others stay valid.",
            discussion: """
                Sessions with this key end within seconds. Their vehicles keep their points. `saker-server service \
                enable-key` makes the key valid again.
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(help: "The number of the key, or its first 4 digits or more: `saker-server key list` shows it.")
        var key: String

        func run() async throws {
            let number = try await ServiceAdministration(try file.load()).setKey(key, of: service, isDisabled: true)
            Output.print("Service \(service): the key \(number) is revoked")
        }
    }
}

// The access keys of a service, one by one.
extension Services {
    struct Keys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the access keys of a service by their numbers. The keys themselves are not stored.")

        @OptionGroup var file: ConfigurationOption
        @OptionGroup var options: ListOptions
        @Argument(help: "The number of the service.")
        var service: Int64

        func run() async throws {
            let keys = try await ServiceAdministration(try file.load()).keys(of: service)
            Listing<KeyListing>([
                .init("NUMBER", "number", \.hash.number),
                .init("MADE", "made", { TimeText.universal($0.created) }),
                .init("KIND", "kind", { $0.isSigned ? "signed" : "plain" }),
                .init("STATE", "state", { $0.isDisabled ? "disabled" : "valid" }),
            ]).show(keys, options)
        }
    }

    struct DisableKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable-key",
            abstract: "End one access key of a service; the others stay valid.",
            discussion: """
                Sessions with this key end within seconds. Their vehicles keep their points, and are refused until they are \
                enrolled with another key, or until enable-key makes this one valid again.

                Example: saker-server service disable-key 1 5f0c9a
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(help: "The number of the key, or its first 4 digits or more: `saker-server service keys` shows it.")
        var key: String

        func run() async throws {
            let number = try await ServiceAdministration(try file.load()).setKey(key, of: service, isDisabled: true)
            Output.print("Service \(service): the key \(number) is disabled")
        }
    }

    struct EnableKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable-key", abstract: "Make an access key valid again that was disabled or rotated away.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(help: "The number of the key, or its first 4 digits or more.")
        var key: String

        func run() async throws {
            let number = try await ServiceAdministration(try file.load()).setKey(key, of: service, isDisabled: false)
            Output.print("Service \(service): the key \(number) is valid")
        }
    }
}

/// What a key may be used for.
struct KeyScopeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What the key may do with the Web API: read, write, admin, or several with commas between them. admin opens "
                + "read and write too.", valueName: "scopes"))
    var scope: String?

    @Flag(
        help: ArgumentHelp(
            "Vehicles may log in with the key, under any name: for vehicles that have no certificate of their own. "
                + "Without --scope such a key opens nothing of the Web API."))
    var legacyDevice = false

    @Option(
        help: ArgumentHelp(
            "The key ends at the begin of this day (UTC), as in 2027-03-01, or at this time, as in 2027-03-01T12:00:00Z.",
            valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp(
            "Requests of the Web API may come only from this address or range, as in 192.0.2.0/24; repeat for more.",
            valueName: "address"))
    var address: [String] = []

    @Option(
        help: ArgumentHelp(
            "Requests of the Web API may come only from pages like this one, as in '*.example.net'; repeat for more.",
            valueName: "pattern"))
    var referer: [String] = []

    /// `usual`: what a key without --scope and --legacy-device may do.
    func rights(usual: KeyScopes) throws(ServerError) -> KeyRights {
        var scopes: KeyScopes = []
        for name in scope?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard let known = KeyScopes(name: String(name)), known != .legacyDevice else {
                throw ServerError(.usage, "--scope \(scope ?? "") is not read, write or admin with commas between them")
            }
            scopes.formUnion(known)
        }
        if legacyDevice { scopes.formUnion(.legacyDevice) }
        var rights = KeyRights(scopes.isEmpty ? usual : scopes, end: try end())
        for text in address {
            guard let range = AddressRange(text) else {
                throw ServerError(.usage, "--address \(text) is no IP address, and no range such as 192.0.2.0/24")
            }
            rights.addresses.append(range)
        }
        for text in referer {
            guard let pattern = RefererPattern(text) else {
                throw ServerError(
                    .usage,
                    "--referer \(text) is no pattern: give 1 to \(RefererPattern.mostBytes) bytes without spaces and "
                        + "without http://, as in '*.example.net'")
            }
            rights.referers.append(pattern)
        }
        return rights
    }

    private func end() throws(ServerError) -> Timestamp? {
        guard let until else { return nil }
        guard let end = TimeText.time(until) else {
            throw ServerError(.usage, "--until \(until) is no time: write it as 2027-03-01 or 2027-03-01T12:00:00Z")
        }
        return end
    }
}
