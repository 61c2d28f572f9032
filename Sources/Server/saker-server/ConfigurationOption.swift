import ArgumentParser
import ConfigurationFile
import ServerRuntime

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
