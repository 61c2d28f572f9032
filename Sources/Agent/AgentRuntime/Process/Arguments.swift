internal import TrackModel

/// What `sakerd` was asked on its command line. The agent does not carry an argument parser: it has four options.
package struct Arguments: Hashable, Sendable {
    package enum Task: Hashable, Sendable {
        case run
        /// Read the configuration, say what is wrong with it, do nothing.
        case check
        case printConfiguration
        case printVersion
        case printHelp
    }

    package var task = Task.run
    package var configurationPath = "/etc/saker/agent.toml"

    package static let help = """
        sakerd \(SakerVersion.text): follows this vehicle and uploads its track.

        USAGE: sakerd [--config FILE] [--check | --print-config | --version | --help]

          --config FILE    Configuration, default /etc/saker/agent.toml (`saker enroll` writes it).
          --check          Read the configuration, say everything that is wrong with it, and stop.
          --print-config   Print the configuration in force, secrets hidden, and stop.
          --version        Print the version and stop.

        Runs in the foreground; SIGTERM stops it, SIGHUP reads the configuration again, SIGUSR1 connects again at once.
        It is controlled with `saker`. Exit status: 0 stopped, 1 cannot run, 2 wrong usage.
        """

    /// A sentence that says what is wrong and what is known.
    package struct UsageError: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Arguments without the program's name.
    package init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--config":
                guard let path = rest.popFirst() else { throw UsageError(description: "--config needs a file") }
                configurationPath = path
            case "--check": task = .check
            case "--print-config": task = .printConfiguration
            case "--version": task = .printVersion
            case "--help", "-h": task = .printHelp
            case _ where argument.hasPrefix("--config="):
                configurationPath = String(argument.dropFirst("--config=".count))
            default:
                throw UsageError(
                    description: "unknown argument '\(argument)'; known are --config, --check, --print-config, "
                        + "--version, --help")
            }
        }
        if configurationPath.isEmpty { throw UsageError(description: "--config needs a file") }
    }
}
