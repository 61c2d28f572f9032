package import ArgumentParser
internal import FenceFiles
internal import Geodesy
internal import Geofencing
internal import Terminal

/// `fence edit`
package struct FenceEditCommand<Holder: FenceHolder>: AsyncParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "edit",
            abstract: "Changes a fence \(Holder.place).",
            discussion: """
                What is not given stays. A change of the shape, the floor, the altitude or the denoise finds anew where a vehicle
                is, without an alarm.

                Examples:
                  \(Holder.typed("edit", "depot --radius 80"))
                  \(Holder.typed("edit", "15 --name 'north gate' --stay 600 --stay-every 600"))
                  \(Holder.typed("edit", "15 --clear validity --clear group"))
                """)
    }

    @OptionGroup var holder: Holder

    @Argument(help: "The number or the name of the fence.")
    var fence: String

    @OptionGroup var changes: FenceChangeOptions
    @OptionGroup(title: "What it tells") var rules: FenceRuleOptions

    package init() {}

    package func run() async throws {
        let now = LocalTime.now
        let held = try await holder.fence(fence)
        guard let former = held.definition else {
            throw FenceCommandFailure(
                .failed, "fence \(held.id) has parts that this program does not know: update it")
        }
        var definition = former
        changes.clear(&definition)
        try rules.changes(of: definition, now: now, isReportable: Holder.takesReports).apply(to: &definition)
        try changes.apply(to: &definition, of: held)
        guard definition != former else {
            throw FenceCommandFailure(
                .usage, "nothing is changed: give what shall be another, as in --radius 80")
        }
        if Holder.takesReports, former.unreportedRemote == nil, let action = definition.unreportedRemote {
            throw FenceCommandFailure(
                .usage,
                "fence \(held.id) tells its \(action.rawValue) to other vehicles (--remote), which needs the server, and without "
                    + "--report the server hears nothing: leave --no-report out, or give --clear actions, too")
        }
        try NewFenceOptions.checkRemote(definition, former)
        if held.hasShape || changes.changesShape { try NewFenceOptions.check(definition, now) }
        try await holder.change(held, to: definition, hasNewShape: changes.changesShape)
    }
}

/// What of a fence is another one, beside what it tells.
package struct FenceChangeOptions: ParsableArguments {
    /// What can be taken away from a fence.
    enum Part: String, CaseIterable, ExpressibleByArgument {
        case actions, altitude, floor, group, speedLimit = "speed-limit", stay, validity, watch
    }

    @Option(name: .long, help: ArgumentHelp("Another name.", valueName: "text"))
    var name: String?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Another floor.", valueName: "text"))
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

    package init() {}

    package func validate() throws {
        for text in at { _ = try PlaceText.places(text, "--at") }
        guard datum == nil || !at.isEmpty else {
            throw ValidationError("--datum is the datum of --at: give places, too")
        }
    }

    var changesShape: Bool { !at.isEmpty || radius != nil || offset != nil || buffer != nil }

    func clear(_ definition: inout FenceDefinition) {
        for part in clear { part.clear(&definition) }
    }

    func apply(to definition: inout FenceDefinition, of held: some HeldFence) throws {
        if let name { definition.name = name }
        if let floor { definition.floor = floor }
        guard changesShape else { return }
        guard held.hasShape || (!at.isEmpty && radius == nil && offset == nil) else {
            throw FenceCommandFailure(
                .usage,
                "fence \(held.id) has more than 2,000 vertices: give all of them anew with --at, or import it")
        }
        let district = definition.district
        definition.shape = try shape(of: held.hasShape ? definition.shape : nil)
        definition.district = at.isEmpty ? district : nil
    }

    /// `former` is nil for a polygon that was not told.
    private func shape(of former: ShapeDraft?) throws -> ShapeDraft {
        let places = try at.flatMap { try PlaceText.places($0, "--at") }
        var draft = former ?? ShapeDraft(.polygon([]))
        if !places.isEmpty, former == nil, datum == nil {
            throw FenceCommandFailure(
                .usage, "the fence is so large that its datum was not sent: give --datum for --at")
        }
        if let datum { draft.datum = datum.datum }
        if let buffer { draft.buffer = buffer }
        func one(_ former: Degrees) throws -> Degrees {
            guard places.count <= 1 else {
                throw FenceCommandFailure(
                    .usage, "--at has \(places.count) places, and a circle has one centre: give one")
            }
            return places.first ?? former
        }
        guard radius == nil || draft.isCircle else {
            throw FenceCommandFailure(.usage, "the fence is no circle: it has no --radius")
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
        guard offset == nil else {
            throw FenceCommandFailure(.usage, "the fence is no corridor: it has no --offset")
        }
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

extension FenceChangeOptions.Part {
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
