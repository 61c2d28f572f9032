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

    /// Reads the configuration. A command of root goes on as the user whose files the configuration names (``WorkingUser``).
    func load(for need: WorkingUser.Need = .store) throws -> ServerConfiguration {
        let configuration: ServerConfiguration
        do throws(ConfigurationError) {
            configuration = try ServerConfiguration.load(path: config)
        } catch {
            throw ServerError(.configuration, error.detail)
        }
        try WorkingUser.take(for: need, configuration)
        return configuration
    }
}
