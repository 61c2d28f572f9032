import AgentControl
import ArgumentParser
import FenceCommands
import JSON
import NIOCore
import Terminal
import TrackModel

/// `saker point`
struct PointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "point",
        abstract: "Sends points that no receiver made to the server, through the agent.",
        discussion: """
            The points are sent at once and are not cached. Without a connection the command fails. If two points of
            one entity have the same time, the later one replaces the earlier one, so it is safe to send again.

            Examples:
              saker point add --lat 31.2281 --lon 121.4771
              saker point add --lat 31.2281 --lon 121.4771 --time '10 min ago' --attribute fuel=51
              saker point import drive.gpx --entity van_08
              saker point import drive.csv
            """,
        subcommands: [Add.self, Import.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends one point.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var agent: AgentOptions

        @Option(
            name: .long, parsing: .unconditional, help: ArgumentHelp("Degrees north, WGS 84.", valueName: "degrees"))
        var lat: Double

        @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Degrees east.", valueName: "degrees"))
        var lon: Double

        @Option(name: .long, help: ArgumentHelp("When it was there.", valueName: "time"))
        var time: String = "now"

        @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Metres per second.", valueName: "m/s"))
        var speed: Double?

        @Option(
            name: .long, parsing: .unconditional, help: ArgumentHelp("Degrees from true north.", valueName: "degrees"))
        var course: Double?

        @Option(
            name: .long, parsing: .unconditional, help: ArgumentHelp("Metres above mean sea level.", valueName: "m"))
        var altitude: Double?

        @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Horizontal error.", valueName: "m"))
        var accuracy: Double?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "Whose point it is (default: that of the agent); made when the server does not have it.",
                valueName: "name"))
        var entity: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "A custom attribute, as in fuel=51; may be given again. A number in quotes is a text: fuel='\"51\"'.",
                valueName: "key=value"))
        var attribute: [String] = []

        func validate() throws {
            _ = try attributes()
            if let entity, let problem = EntityName.problem(withNew: entity) { throw ValidationError(problem) }
        }

        func attributes() throws -> [String: JSONValue] {
            var attributes: [String: JSONValue] = [:]
            for text in attribute {
                guard let (key, value) = AttributeText.pair(text) else {
                    throw ValidationError("--attribute '\(text)' is none: give it as key=value")
                }
                guard attributes[key] == nil else { throw ValidationError("--attribute \(key) is given twice") }
                attributes[key] = AttributeText.value(value, of: key)
            }
            return attributes
        }

        func run() async throws {
            let time = try TimeExpression.milliseconds(time, "--time", now: LocalTime.now)
            let members: [String: JSONValue?] = [
                "time": .integer(time), "latitude": .double(lat), "longitude": .double(lon),
                "speed": speed.map(JSONValue.double), "course": course.map(JSONValue.double),
                "altitude": altitude.map(JSONValue.double), "accuracy": accuracy.map(JSONValue.double),
                "attributes": attribute.isEmpty ? nil : .object(try attributes()),
            ]
            let point = JSONValue.object(members.compactMapValues { $0 })
            do throws(CustomPoint.Problem) {
                _ = try CustomPoint.point(point)
            } catch {
                throw CommandFailure(.usage, error.detail.printable)
            }
            let value = try await agent.reply(
                .addPoints, ["points": [point], "entity": entity.map(JSONValue.string)],
                timeout: .seconds(10) + AgentControlClient.requestTime)
            if agent.json { Output.print(json: value.description) }
            let reply: AddPointsReply = try AgentOptions.decoded(value)
            if let refused = reply.refused.first {
                throw CommandFailure(.failed, "the server refused the point: \(refused.reason)".printable)
            }
            if !agent.json { Output.print("The server has stored the point.") }
            guard let ignored = reply.ignored, !ignored.isEmpty else { return }
            let lines = AttributeText.ignored(ignored)
            for line in lines.dropLast() { Output.complain("saker: \(line)") }
            throw CommandFailure(.failed, lines.last ?? "")
        }
    }
}
