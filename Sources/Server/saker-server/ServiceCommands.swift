import ArgumentParser
import ConfigurationFile
import Glibc
import JSON
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

struct Services: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Services (tenants) and their access keys. Works while the server runs.",
        subcommands: [
            Create.self, Import.self, List.self, Rename.self, RotateKey.self, Keys.self, DisableKey.self,
            EnableKey.self,
            SetAppCode.self, KeepPoints.self, Answers.self, Delete.self,
        ])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a service with an access key for clients of the Web API.",
            discussion: "`saker-server token create` then makes a line with which vehicles join the service.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The name of the service, for people.")
        var name: String
        @Flag(help: "Web API requests with this key must be signed; prints the signing key (sk) too. Not for agents.")
        var signed = false
        @Flag(
            help: ArgumentHelp(
                "Vehicles may log in with the key too, under any name: for vehicles that have no certificate of their own."
            ))
        var legacyDevice = false

        func run() async throws {
            let configuration = try file.load()
            let made = try await ServiceAdministration(configuration)
                .create(named: name, isSigned: signed, isForLegacyDevices: legacyDevice)
            Output.print("Service \(made.service.rawValue), \"\(name)\"")
            try printKey(made, configuration)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all services.")

        @OptionGroup var file: ConfigurationOption
        @OptionGroup var options: ListOptions

        func run() async throws {
            let services = try await ServiceAdministration(try file.load()).list()
            Listing<ServiceRecord>([
                .init(.number("ID"), "id", { "\($0.id.rawValue)" }, value: { .integer($0.id.rawValue) }),
                .init(.text("NAME"), "name", \.name),
                .init(.text("OPTIONS"), "options", Self.options),
            ]).show(services, options)
        }

        /// What a service has that is not as usual.
        private static func options(_ service: ServiceRecord) -> String {
            let code = service.appCode == nil ? nil : "app code"
            let kept: String? =
                switch service.retention {
                case .standard: nil
                case .forever: "keeps points for ever"
                case .days(let days): "keeps points for \(days) day\(days == 1 ? "" : "s")"
                }
            let answers = service.answers == AnswerForms() ? nil : service.answers.text
            return [code, kept, answers].compactMap { $0 }.joined(separator: "; ")
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a service another name. The number, which vehicles and clients use, stays.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(help: "The new name of the service, for people.")
        var name: String

        func run() async throws {
            try await ServiceAdministration(try file.load()).rename(service, to: name)
            Output.print("Service \(service), \"\(name)\"")
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
            Output.print(
                "Service \(made.service.rawValue): " + (keepOld ? "a further key" : "a new key, the earlier ones ended")
            )
            try printKey(made, configuration)
        }
    }
}

extension Services {
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a service with everything in it, for good.",
            discussion: """
                Entities, tracks, fences, alarms, messages, exports, keys, tokens and devices of the service go. Its keys and its \
                vehicles are refused within a second. The vehicles keep the points that they have, and say why. The rest goes in \
                small steps, while the server serves other services; when the command is ended before, the running server goes on, \
                and so does the same command. The file of the store keeps its size, and new points use the room.

                The number of the service is never given out again.

                Examples:
                saker-server service delete 3
                saker-server service delete 3 --yes     without asking
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Flag(help: "Do not ask.")
        var yes = false

        private static let rowsBetweenLines = 100_000

        func run() async throws {
            let administration = try await ServiceAdministration(try file.load())
            if let plan = try await administration.deletionPlan(for: service) {
                let held = plan.holdings
                Output.print(
                    "Service \(service), \"\(plan.service.name)\", has \(counted(held.entities, "entity", many: "entities")), "
                        + "\(counted(held.points, "point")), \(counted(held.keys, "key")) and \(counted(held.devices, "device"))."
                )
                if !yes { try ask() }
                try await administration.delete(plan)
            } else {
                Output.print("Service \(service) was deleted before. What is left of it goes now.")
            }
            var told = 0
            try await administration.removeDeletedServices { rows in
                guard rows >= told + Self.rowsBetweenLines else { return }
                told = rows
                Output.complain("\(rows) rows are gone")
            }
            Output.print("Service \(service) is deleted.")
        }

        private func ask() throws {
            Output.ask("All of this is deleted for good. To go on, type the number of the service: ")
            guard let answer = readLine() else {
                throw ServerError(
                    .usage,
                    "nobody has answered, so nothing is deleted: a deletion cannot be undone. Give --yes when nobody can be asked"
                )
            }
            guard Int64(answer) == service else {
                throw ServerError(.stopped, "the answer is not \(service), so nothing is deleted")
            }
        }
    }

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
