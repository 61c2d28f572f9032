import AgentControl
import ArgumentParser
import FenceArguments
import FenceFiles
import FenceJSON
import Geodesy
import Geofencing
import JSON
import NIOCore

/// `saker fence edit`
struct FenceEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes a fence of this vehicle.",
        discussion: """
            What is not given stays. A change of the shape, the floor, the altitude or the denoise finds anew where the vehicle
            is, without an alarm.

            Examples:
              saker fence edit depot --radius 80
              saker fence edit 15 --name 'north gate' --stay 600 --stay-every 600
              saker fence edit 15 --clear validity --clear group
            """)

    /// What can be taken away from a fence.
    enum Part: String, CaseIterable, ExpressibleByArgument {
        case actions, altitude, floor, group, speedLimit = "speed-limit", stay, validity, watch
    }

    @OptionGroup var agent: AgentOptions

    @Argument(help: "The number or the name of the fence.")
    var fence: String

    @Option(name: .long, help: ArgumentHelp("Another name.", valueName: "text"))
    var name: String?

    @Option(name: .long, help: ArgumentHelp("Another floor.", valueName: "text"))
    var floor: String?

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Another centre; other vertices of the line, or of the outer ring without holes; may be given again.",
            valueName: "lat,lon"))
    var at: [String] = []

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Another radius of a circle.", valueName: "m"))
    var radius: Double?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Another offset of a corridor.", valueName: "m"))
    var offset: Double?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Other metres around the shape.", valueName: "m"))
    var buffer: Double?

    @Option(help: "The datum of --at. Default: that of the fence.")
    var datum: DatumArgument?

    @Option(name: .long, help: "Take this away; may be given again.")
    var clear: [Part] = []

    @OptionGroup(title: "What it tells") var rules: FenceRuleOptions

    func validate() throws {
        for text in at { _ = try PlaceText.places(text, "--at") }
        guard datum == nil || !at.isEmpty else {
            throw ValidationError("--datum is the datum of --at: give places, too")
        }
    }

    func run() async throws {
        let now = TimeText.now
        let report = try await FenceCalls.one(fence, agent)
        guard let former = FenceView.definition(report) else {
            throw CommandFailure(.failed, "fence \(report.id) has parts that this program does not know: update it")
        }
        let isWhole = report.fence["shape"] != nil
        var definition = former
        for part in clear { part.clear(&definition) }
        try rules.settings(of: definition, now: now).apply(to: &definition)
        if let name { definition.name = name }
        if let floor { definition.floor = floor }
        let changesShape = !at.isEmpty || radius != nil || offset != nil || buffer != nil
        if changesShape {
            guard isWhole || (!at.isEmpty && radius == nil && offset == nil) else {
                throw CommandFailure(
                    .usage,
                    "fence \(report.id) has more than 2,000 vertices: give all of them anew with --at, or import it")
            }
            definition.shape = try shape(of: isWhole ? former.shape : nil)
            definition.district = at.isEmpty ? former.district : nil
        }
        guard definition != former else {
            throw CommandFailure(.usage, "nothing is changed: give what shall be another, as in --radius 80")
        }
        if isWhole || changesShape { try NewFenceOptions.check(definition, now) }
        var json = definition.json
        // The agent keeps the shape that it has.
        if !changesShape, case .object(var members) = json {
            members["shape"] = nil
            json = .object(members)
        }
        try await agent.call(
            .updateFence, ["fence_id": .integer(report.id), "fence": json], timeout: .seconds(60)
        ) { (reply: FenceReply) in
            let revision = reply.revision == report.revision ? "" : ", now revision \(reply.revision)"
            return ["Changed fence \(reply.fenceID)\(revision)."]
        }
    }

    /// `former` is nil for a polygon that was not sent.
    private func shape(of former: ShapeDraft?) throws -> ShapeDraft {
        let places = try at.flatMap { try PlaceText.places($0, "--at") }
        var draft = former ?? ShapeDraft(.polygon([]))
        if !places.isEmpty, former == nil, datum == nil {
            throw CommandFailure(.usage, "the fence is so large that its datum was not sent: give --datum for --at")
        }
        if let datum { draft.datum = datum.datum }
        if let buffer { draft.buffer = buffer }
        func one(_ former: Degrees) throws -> Degrees {
            guard places.count <= 1 else {
                throw CommandFailure(.usage, "--at has \(places.count) places, and a circle has one centre: give one")
            }
            return places.first ?? former
        }
        guard radius == nil || draft.isCircle else {
            throw CommandFailure(.usage, "the fence is no circle: it has no --radius")
        }
        switch draft.outline {
        case .circle(let centre, let old): draft.outline = .circle(centre: try one(centre), radius: radius ?? old)
        case .point(let place):
            if let radius {
                draft.outline = .circle(centre: try one(place), radius: radius)
                draft.buffer = buffer ?? 0
            } else {
                draft.outline = .point(try one(place))
            }
        case .corridor(let line, let old):
            draft.outline = .corridor(places.isEmpty ? line : places, offset: offset ?? old)
            return draft
        case .polygon(let parts): draft.outline = .polygon(places.isEmpty ? parts : [[places]])
        }
        guard offset == nil else { throw CommandFailure(.usage, "the fence is no corridor: it has no --offset") }
        return draft
    }
}

extension ShapeDraft {
    fileprivate var isCircle: Bool {
        switch outline {
        case .circle, .point: true
        case .polygon, .corridor: false
        }
    }
}

extension FenceEditCommand.Part {
    fileprivate func clear(_ definition: inout FenceDefinition) {
        switch self {
        case .actions: definition.reactions = []
        case .altitude: definition.altitude = nil
        case .floor: definition.floor = nil
        case .group: definition.group = nil
        case .speedLimit: definition.speedLimit = nil
        case .stay: (definition.stay, definition.rule) = (nil, definition.rule.subtracting(.stay))
        case .validity: definition.validity = nil
        case .watch: definition.watch = .nobody
        }
    }
}
