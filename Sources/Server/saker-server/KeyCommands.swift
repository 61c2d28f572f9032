import ArgumentParser
import JSON
import ServerRuntime
import Terminal
import TrackStore

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
