import AgentControl
import ArgumentParser
import FenceArguments
import Geodesy
import JSON
import Terminal

/// `saker fence status`
struct FenceStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows in which fences the vehicle is, or in which ones a place is.",
        discussion: """
            Without --at it shows what the alarms told: near an edge the vehicle may count as inside a few metres outside.
            With --at it is geometry alone, and nothing changes. Fences that do not watch the entity are left out.

            Examples:
              saker fence status
              saker fence status depot --at 40.0405,116.3008
              saker fence status --at -54.8,-68.3
              saker fence status --inside                  only those that it is in
              saker fence status --server                  of the fences that the server has sent
            """)

    @OptionGroup var agent: AgentOptions
    @OptionGroup var table: TableOptions
    @OptionGroup var selection: FenceSelectionOptions
    @OptionGroup var whose: FenceSourceOptions

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Ask about this place.", valueName: "lat,lon"))
    var at: String?

    @Option(help: "The datum of --at.")
    var datum: DatumArgument = .wgs84

    @Flag(name: .long, help: "Only fences that the vehicle, or the place, is in.")
    var inside = false

    func validate() throws {
        _ = try at.map { try PlaceText.place($0, "--at") }
        guard at != nil || datum == .wgs84 else {
            throw ValidationError("--datum is the datum of --at: give a place, too")
        }
    }

    func run() async throws {
        var parameters = try await selection.parameters(agent, source: whose.source)
        let place = try at.map { try PlaceText.place($0, "--at") }
        if let place {
            var members: [String: JSONValue] = [
                "latitude": .double(place.latitude), "longitude": .double(place.longitude),
            ]
            if datum != .wgs84 { members["coord_type"] = .string(datum == .bd09 ? "bd09ll" : "gcj02") }
            parameters["place"] = .object(members)
        }
        var (entity, statuses): (String, [FenceStatusReport]) = ("", [])
        try await FenceCalls.pages(.getFenceStatus, parameters, agent, isPrinted: true) { (page: FenceStatusReply) in
            entity = page.entity
            statuses += page.statuses.filter { !inside || $0.status == .inside }
            return page.more ? page.statuses.last?.fenceID : nil
        }
        if agent.json { return }
        let lines = Self.lines(
            statuses, entity: entity, isPlace: place != nil, isServer: whose.server, now: TimeText.now,
            isInsideOnly: inside, width: table.width)
        for line in lines { Console.print(line) }
    }

    static func lines(
        _ statuses: [FenceStatusReport], entity: String, isPlace: Bool, isServer: Bool = false, now: Int64,
        isInsideOnly: Bool = false, width: Int? = nil
    ) -> [String] {
        guard !statuses.isEmpty || !isInsideOnly else {
            return ["\(isPlace ? "The place" : entity) is in none of the fences.".printable]
        }
        guard !statuses.isEmpty else {
            let text =
                isServer
                ? "The vehicle has no fence of the server that watches \(entity)." : "No fence watches \(entity)."
            return [text.printable]
        }
        var table = TextTable(
            [.number("FENCE"), .text("NAME"), "STATUS", .number("DISTANCE")]
                + (isPlace ? [] : [.text("SINCE"), TextTable.Column("LAST POINT", rank: 1)]))
        for status in statuses {
            var cells = [
                "\(status.fenceID)", status.name,
                status.status == .inside ? "in" : status.status == .outside ? "out" : "unknown",
                status.distance.map(distance) ?? "",
            ]
            if !isPlace {
                cells += [
                    status.since.map { TimeText.both($0, now: now) } ?? "",
                    status.time.map { TimeText.relative($0, now: now) } ?? "",
                ]
            }
            table.add(cells)
        }
        guard !isInsideOnly else { return table.lines(width: width) }
        let inside = Int64(statuses.count { $0.status == .inside })
        let who = isPlace ? "The place" : entity
        return table.lines(width: width) + [
            "", "\(who) is inside \(inside) of \(Quantity.count(Int64(statuses.count), "fence")).".printable,
        ]
    }

    /// Of the boundary; negative inside.
    private static func distance(_ metres: Double) -> String {
        metres.isFinite ? (metres < 0 ? "-" : "") + Quantity.distance(metres.magnitude) : ""
    }
}
