import ArgumentParser
import FenceCommands
import JSON
import Terminal

/// Whose track, and of which time: the arguments of every command that reads a range.
struct TrackRangeOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Argument(help: "The entity's name. On a vehicle, default: the agent's own entity.")
    var entity: String?

    @Option(name: .long, help: ArgumentHelp("From this time on.", valueName: "time"))
    var from: String

    @Option(name: .long, help: ArgumentHelp("Up to this time.", valueName: "time"))
    var to: String = "now"

    /// The range in whole seconds.
    func seconds(now: Int64) throws -> ClosedRange<Int64> {
        let start = try TimeArgument.parse(from, "--from", now: now)
        let end = try min(TimeArgument.parse(to, "--to", now: now), now)
        return try Self.seconds(from: start, to: end)
    }

    /// Milliseconds since 1970.
    static func seconds(from start: Int64, to end: Int64) throws(CommandFailure) -> ClosedRange<Int64> {
        guard start <= end else {
            throw CommandFailure(
                .usage, "--from (\(TimeText.local(start))) lies after --to (\(TimeText.local(end)))")
        }
        let (first, last) = (max(start / 1000, 0), max(end / 1000, 0))
        guard last - first <= 366 * 86_400 else {
            throw CommandFailure(.usage, "a range of more than 366 days: ask for it in pieces")
        }
        return first...last
    }

    /// Runs `body` with the range, and a closure that asks the server about parts of it that are a day long at most.
    func asking<Result>(
        _ body: (_ entity: String, _ range: ClosedRange<Int64>, _ client: WebClient, _ ask: @escaping RangeAsk)
            async throws -> Result
    ) async throws -> Result {
        let range = try seconds(now: TimeText.now)
        return try await WebClient.with(server) { client in
            let name = try await client.entity(entity)
            return try await body(name, range, client) { path, part, parameters in
                try await client.call(
                    path,
                    [
                        ("entity_name", name), ("start_time", String(part.lowerBound)),
                        ("end_time", String(part.upperBound)), ("coord_type_output", "wgs84"),
                    ] + parameters)
            }
        }
    }

    /// Prints an answer with --json; else hands it on, and what it says of roads.
    func show(_ answer: JSONValue, inTable: Bool = true, _ lines: (JSONValue) -> [String]) {
        guard !server.json else { return Output.print(json: answer.description) }
        for line in lines(answer) { Output.print(line) }
        RoadsRemark(answer)?.show(inTable: inTable)
    }
}
