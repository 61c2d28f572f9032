import AgentControl
import ArgumentParser
import FenceCommands
import JSON
import Terminal

/// `saker cache`
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Shows or clears the points that wait for upload.",
        discussion: """
            Examples:
              saker cache info
              saker cache clear --entity van_07 --through yesterday
              saker cache clear --yes                everything, without asking
            """,
        subcommands: [Info.self, Clear.self], defaultSubcommand: Info.self)

    struct Info: AsyncParsableCommand, TakesNames {
        static let configuration = CommandConfiguration(
            abstract: "Shows how many points of each entity the cache holds.")

        @OptionGroup var agent: AgentOptions
        @OptionGroup var table: TableOptions

        @Argument(help: "Only these entities.")
        var entities: [String] = []

        func run() async throws {
            try await agent.call(.getCacheInfo, ["entities": entities.list]) { (reply: CacheInfoReply) in
                let now = LocalTime.now
                return CacheView.lines(reply.cache, now: now).flatMap { TextFold.lines($0, width: table.width) } + [""]
                    + Self.lines(reply.entities, now: now, width: table.width)
            }
        }

        static func lines(_ entities: [EntityCache], now: Int64, width: Int? = nil) -> [String] {
            guard !entities.isEmpty else { return ["No entity has points in the cache."] }
            var table = TextTable([
                .text("ENTITY"), .number("POINTS"), "OLDEST", TextTable.Column("NEWEST", rank: 1),
                TextTable.Column("AGE OF THE OLDEST", rank: 2),
            ])
            for entity in entities {
                table.add(
                    entity.entity, Quantity.count(entity.points), entity.firstTime.map(LocalTime.text) ?? "",
                    entity.lastTime.map(LocalTime.text) ?? "",
                    entity.firstTime.map { DurationText.relative($0, now: now) } ?? "")
            }
            return table.lines(width: width)
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes points that were not uploaded. This cannot be undone.",
            discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var agent: AgentOptions

        @Option(
            name: .long,
            help: ArgumentHelp("Only points of this entity; may be given again.", valueName: "name"))
        var entity: [String] = []

        @Option(name: .long, help: ArgumentHelp("Only points from this time on.", valueName: "time"))
        var from: String?

        @Option(name: .long, help: ArgumentHelp("Only points up to this time.", valueName: "time"))
        var through: String?

        @Flag(name: .long, help: "Do not ask.")
        var yes = false

        func run() async throws {
            let now = LocalTime.now
            let from = try from.map { try TimeExpression.milliseconds($0, "--from", now: now) }
            let through = try through.map { try TimeExpression.milliseconds($0, "--through", now: now) }
            if !yes { try await ask(from, through) }
            try await agent.call(
                .clearCache,
                [
                    "entities": entity.list, "from": from.map(JSONValue.integer),
                    "through": through.map(JSONValue.integer),
                ]
            ) { (reply: ClearCacheReply) in ["Forgot \(Quantity.count(reply.removed, "point"))."] }
        }

        private func ask(_ from: Int64?, _ through: Int64?) async throws {
            guard Console.asksTerminal else {
                throw CommandFailure(.usage, "clearing the cache cannot be undone: give --yes when nobody can be asked")
            }
            let reply = try await agent.reply(.getCacheInfo, ["entities": entity.list])
            let info: CacheInfoReply = try AgentOptions.decoded(reply)
            let whose = entity.isEmpty ? "all entities" : entity.joined(separator: ", ").printable
            let range = [
                from.map { "from \(LocalTime.text($0))" }, through.map { "up to \(LocalTime.text($0))" },
            ].compactMap { $0 }.joined(separator: " ")
            for line in Info.lines(info.entities, now: LocalTime.now, width: TerminalSize.columns) {
                Output.print(line)
            }
            Output.ask(
                "Forget the points of \(whose)\(range.isEmpty ? "" : " \(range)") for good? They were not uploaded. [y/N] "
            )
            guard ["y", "yes"].contains(readLine()?.trimmed.lowercased() ?? "") else {
                throw CommandFailure(.failed, "nothing was cleared")
            }
        }
    }
}

/// The cache as a whole.
enum CacheView {
    /// When `isOnline` is true, the room that is left matters only after the connection is lost. `isLosing`: points were dropped
    /// for want of room since the agent started.
    static func lines(
        _ cache: CacheStatus, now: Int64, isOnline: Bool? = nil, isLosing: Bool = false
    ) -> [String] {
        let limit = cache.limit.map { " of \(Quantity.bytes($0))\(share(cache.bytes, of: $0))" } ?? ", no limit"
        let sent = cache.unacknowledged > 0 ? " (\(Quantity.count(cache.unacknowledged)) sent)" : ""
        var lines = [
            "\(Quantity.count(cache.points, "point")) to upload\(sent), \(Quantity.bytes(cache.bytes))\(limit)"
        ]
        if let first = cache.firstTime, cache.points > 0 {
            lines.append("the oldest of \(LocalTime.both(first, now: now))")
        }
        if cache.state == .memory {
            lines.append("IN MEMORY ONLY: " + (cache.lastError ?? "the disk refuses writes"))
        } else if let isOnline, let room = room(cache, now: now, isOnline: isOnline, isLosing: isLosing) {
            lines.append(room)
        }
        return lines
    }

    /// One forecast for everybody: the agent's own. Nil when there is none, as in memory, where the disk's room does not count.
    static func room(_ cache: CacheStatus, now: Int64, isOnline: Bool, isLosing: Bool) -> String? {
        guard cache.state == .disk, let time = cache.timeToFull else { return nil }
        if time == 0, !isOnline, cache.points > 0 {
            let next = cache.firstTime.map { ", from \(LocalTime.text($0)) on" } ?? ""
            return isLosing
                ? "FULL: points are lost; the next ones drop the oldest\(next)"
                : "no room is left: the next points drop the oldest\(next)"
        }
        if time == 0 {
            return isOnline
                ? "no room is left, and none is needed while the server takes the points"
                : "there is no room for points"
        }
        return isOnline
            ? "room for \(DurationText.text(time)) without a connection, at the present rate"
            : "full in \(DurationText.text(time)) at the present rate, then the oldest points are dropped"
    }

    private static func share(_ bytes: Int64, of limit: Int64) -> String {
        guard limit > 0 else { return "" }
        let percent = Double(bytes) / Double(limit) * 100
        return percent > 0 && percent < 1 ? " (<1 %)" : " (\(Quantity.decimal(percent, 0)) %)"
    }
}

extension [String] {
    /// Nil when empty: the same as not given.
    fileprivate var list: JSONValue? { isEmpty ? nil : .array(map(JSONValue.string)) }
}
