import ArgumentParser
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
