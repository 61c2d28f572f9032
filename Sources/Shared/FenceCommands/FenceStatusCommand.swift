package import ArgumentParser
package import Geodesy
internal import Terminal

/// Where an entity, or a place, is with regard to one fence.
package struct FenceRelation: Hashable, Sendable {
    package enum Side: String, Hashable, Sendable {
        case inside = "in"
        case outside = "out"
        /// The fence has not judged the entity yet.
        case unknown
    }

    package var fence: Int64
    package var name: String
    package var side: Side
    /// Metres from the place to the boundary; negative inside.
    package var distance: Double?
    /// When the entity came in, and the time of the last point that the fence judged: ms since 1970 by GNSS time.
    package var since: Int64?
    package var time: Int64?

    package init(
        fence: Int64, name: String, side: Side, distance: Double? = nil, since: Int64? = nil, time: Int64? = nil
    ) {
        (self.fence, self.name, self.side, self.distance) = (fence, name, side, distance)
        (self.since, self.time) = (since, time)
    }
}

/// Who knows where an entity is with regard to fences.
package protocol FenceStatusHolder: ParsableArguments, Sendable {
    /// As of ``FenceHolder``.
    static var program: String { get }
    static var subject: String { get }
    /// Further lines of examples.
    static var moreExamples: [String] { get }
    var printsJSON: Bool { get }
    /// Said when no fence watches the entity.
    func noFence(of entity: String) -> String
    /// `place`: in a datum; nil: where the entity is. Prints the answer itself when ``printsJSON``. The name is that of the entity.
    func relations(
        _ selection: FenceSelectionOptions, at place: (degrees: Degrees, datum: DatumArgument)?
    ) async throws -> (entity: String, relations: [FenceRelation])
}

/// `fence status`
package struct FenceStatusCommand<Holder: FenceStatusHolder>: AsyncParsableCommand {
    package static var configuration: CommandConfiguration {
        func typed(_ rest: String) -> String {
            [Holder.program, "status", Holder.subject, rest].filter { !$0.isEmpty }.joined(separator: " ")
        }
        let examples =
            [typed("depot --at 40.0405,116.3008"), typed("--at -54.8,-68.3")] + Holder.moreExamples.map(typed)
        return CommandConfiguration(
            commandName: "status",
            abstract: "Shows in which fences an entity is, or in which ones a place is.",
            discussion: """
                Without --at it shows what the alarms told: near an edge the vehicle may count as inside a few metres outside.
                With --at it is geometry alone, and nothing changes. Fences that do not watch the entity are left out.

                Examples:
                  \(examples.joined(separator: "\n  "))
                """)
    }

    @OptionGroup var holder: Holder
    @OptionGroup var table: TableOptions
    @OptionGroup var selection: FenceSelectionOptions

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Ask about this place.", valueName: "lat,lon"))
    var at: String?

    @Option(help: "The datum of --at.")
    var datum: DatumArgument = .wgs84

    @Flag(name: .long, help: "Only fences that the vehicle, or the place, is in.")
    var inside = false

    package init() {}

    package func validate() throws {
        _ = try at.map { try PlaceText.place($0, "--at") }
        guard at != nil || datum == .wgs84 else {
            throw ValidationError("--datum is the datum of --at: give a place, too")
        }
    }

    package func run() async throws {
        let place = try at.map { try PlaceText.place($0, "--at") }
        let (entity, relations) = try await holder.relations(selection, at: place.map { ($0, datum) })
        if holder.printsJSON { return }
        for line in lines(relations, entity: entity, isPlace: place != nil, now: LocalTime.now) { Output.print(line) }
    }

    func lines(_ all: [FenceRelation], entity: String, isPlace: Bool, now: Int64) -> [String] {
        let relations = inside ? all.filter { $0.side == .inside } : all
        let who = TerminalText.safe(isPlace ? "The place" : entity)
        guard !relations.isEmpty else {
            return [inside ? "\(who) is in none of the fences." : TerminalText.safe(holder.noFence(of: entity))]
        }
        var rows = TextTable(
            [.number("FENCE"), .text("NAME"), "STATUS", .number("DISTANCE")]
                + (isPlace ? [] : [.text("SINCE"), TextTable.Column("LAST POINT", rank: 1)]))
        for relation in relations {
            var cells = [
                "\(relation.fence)", relation.name, relation.side.rawValue, relation.distance.map(Self.distance) ?? "",
            ]
            if !isPlace {
                cells += [
                    relation.since.map { LocalTime.both($0, now: now) } ?? "",
                    relation.time.map { DurationText.relative($0, now: now) } ?? "",
                ]
            }
            rows.add(cells)
        }
        let lines = rows.lines(width: table.width)
        guard !inside else { return lines }
        let count = Int64(relations.count { $0.side == .inside })
        return lines + ["", "\(who) is inside \(count) of \(Quantity.count(Int64(relations.count), "fence"))."]
    }

    /// Of the boundary; negative inside.
    private static func distance(_ metres: Double) -> String {
        metres.isFinite ? (metres < 0 ? "-" : "") + Quantity.distance(metres.magnitude) : ""
    }
}
