import ArgumentParser
import ServerRuntime
import Terminal
import TrackStore

extension Services {
    struct KeepPoints: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retention", abstract: "Say for how many days a service keeps its points.",
            discussion: """
                The running server removes older points within an hour, for good. A point goes when it was measured and \
                received before the time. What the server answers about trips and stays then begins later. Entities, fences \
                and alarms stay.

                Example: saker-server service retention 1 90
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(
            help: ArgumentHelp(
                "1 ... 36500, forever, or default: what retention_days in [store] says.", valueName: "days"))
        var days: String

        func run() async throws {
            guard let retention = Retention(days) else {
                throw ServerError(
                    .usage,
                    "\"\(days)\" is no time to keep points: give 1 ... \(Retention.mostDays) days, forever or default")
            }
            let configuration = try file.load()
            try await ServiceAdministration(configuration).setRetention(retention, of: service)
            let kept = retention.days(standard: configuration.store.retentionDays)
            Output.print(
                "Service \(service) keeps its points "
                    + (kept.map { "for \($0) day\($0 == 1 ? "" : "s")" } ?? "for ever"))
        }
    }
}
