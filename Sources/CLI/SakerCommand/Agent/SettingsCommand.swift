import AgentControl
import ArgumentParser
import JSON
import Terminal

extension AgentControl.Activity: ExpressibleByArgument {}

/// `saker settings`
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Shows or changes the agent's settings. They survive a restart.",
        discussion: """
            Examples:
              saker settings show
              saker settings intervals 5 30          a point each 5 s, a batch each 30 s
              saker settings cache-limit 1GiB
              saker settings location --distance-filter 10 --activity automotive
              saker settings location --desired-accuracy 0     turns it off
              saker settings reset
            """,
        subcommands: [Show.self, Intervals.self, CacheLimitCommand.self, Location.self, Reset.self],
        defaultSubcommand: Show.self)

    private struct Reply: Decodable {
        var settings: AgentSettings
    }

    private static func call(
        _ agent: AgentOptions, _ method: AgentMethod, _ parameters: [String: JSONValue?] = [:]
    ) async throws {
        try await agent.call(method, parameters) { (reply: Reply) in SettingsView.lines(reply.settings) }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows the settings in force.")

        @OptionGroup var agent: AgentOptions

        func run() async throws { try await SettingsCommand.call(agent, .getSettings) }
    }

    struct Intervals: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets how often a point is made and how often a batch is uploaded.",
            discussion: "Both 2 to 300 seconds; the pack interval is a whole multiple of the gather interval.")

        @OptionGroup var agent: AgentOptions

        @Argument(help: "Seconds between two points.")
        var gather: Int64

        @Argument(help: "Seconds between two batches.")
        var pack: Int64

        func run() async throws {
            try await SettingsCommand.call(
                agent, .setIntervals, ["gather": .integer(gather), "pack": .integer(pack)])
        }
    }

    struct CacheLimitCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cache-limit",
            abstract: "Sets the size of the disk ring. Beyond it the agent drops the oldest points and counts them.")

        @OptionGroup var agent: AgentOptions

        @Argument(help: "A size such as 256MiB or 1GB (bytes without a unit), or 'unlimited'.")
        var limit: String

        private var parameters: [String: JSONValue?]? {
            if limit.lowercased() == "unlimited" { return ["unlimited": true] }
            return Quantity.parseBytes(limit).map { ["bytes": .integer($0)] }
        }

        func validate() throws {
            guard parameters != nil else {
                throw ValidationError("'\(limit)' is not a size: give one such as 256MiB or 1GB, or 'unlimited'")
            }
        }

        func run() async throws {
            try await SettingsCommand.call(agent, .setCacheLimit, parameters ?? [:])
        }
    }

    struct Location: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets which fixes make no point. Options that are not given do not change.")

        @OptionGroup var agent: AgentOptions

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Skip fixes with a larger estimated error; 0 turns this off.", valueName: "metres"))
        var desiredAccuracy: Double?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Skip fixes that moved less; 0 for off.", valueName: "metres"))
        var distanceFilter: Double?

        @Option(name: .long, help: "How the vehicle travels; decides which speeds are plausible.")
        var activity: AgentControl.Activity?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Count as parked after this time without movement; 0 for never.", valueName: "seconds"))
        var parkingDelay: Int64?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("From one point to the next while parked.", valueName: "seconds"))
        var parkingInterval: Int64?

        func validate() throws {
            guard
                desiredAccuracy != nil || distanceFilter != nil || activity != nil || parkingDelay != nil
                    || parkingInterval != nil
            else {
                throw ValidationError(
                    "give at least one of --desired-accuracy, --distance-filter, --activity, --parking-delay and "
                        + "--parking-interval")
            }
        }

        func run() async throws {
            try await SettingsCommand.call(
                agent, .setLocationOptions,
                [
                    "desired_accuracy": desiredAccuracy.map(JSONValue.double),
                    "distance_filter": distanceFilter.map(JSONValue.double),
                    "activity": activity.map { .string($0.rawValue) },
                    "parking_delay": parkingDelay.map(JSONValue.integer),
                    "parking_interval": parkingInterval.map(JSONValue.integer),
                ])
        }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Sets everything back to its default.")

        @OptionGroup var agent: AgentOptions

        func run() async throws { try await SettingsCommand.call(agent, .resetSettings) }
    }
}

/// Shows the settings of the list ``AgentSetting/all`` to a person.
enum SettingsView {
    /// The settings in one line, first those that always have a value.
    static func line(_ settings: AgentSettings) -> String {
        let always = AgentSetting.all.filter { $0.absent == nil }
        let options = AgentSetting.all.filter { $0.absent != nil }
        return (always + options).compactMap { setting in
            guard let summary = setting.summary, let value = settings.values[setting.key] else { return nil }
            return summary.split(separator: "%", omittingEmptySubsequences: false)
                .joined(separator: text(value, setting.kind))
        }.joined(separator: ", ")
    }

    static func lines(_ settings: AgentSettings) -> [String] {
        var table = TextTable.pairs
        for setting in AgentSetting.all {
            guard let text = settings.values[setting.key].map({ text($0, setting.kind) }) ?? setting.absent else {
                continue
            }
            table.add(setting.label, text)
        }
        return table.lines(width: TerminalSize.columns)
    }

    private static func text(_ value: JSONValue, _ kind: AgentSetting.Kind) -> String {
        switch kind {
        case .integer(let unit): value.integerValue.map { "\($0)\(unit.isEmpty ? "" : " ")\(unit)" } ?? "?"
        case .bytes: value.integerValue.map(Quantity.bytes) ?? "?"
        case .number(let unit): value.doubleValue.map { "\(Quantity.decimal($0, 1, trimmed: true)) \(unit)" } ?? "?"
        case .choice: value.stringValue ?? "?"
        }
    }
}
