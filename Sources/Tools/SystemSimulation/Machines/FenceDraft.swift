internal import Geodesy
internal import Geofencing
internal import Glibc
internal import TrackModel
internal import TrackTestKit

/// Makes the fences of a history: circles and polygons that the vehicle's route crosses, with most of the rules that a fence
/// may have.
///
/// Left out: floors, heights and weekly windows, which no journey of the simulation has.
struct FenceDraft {
    private let route: Route

    init(around route: Route) {
        self.route = route
    }

    /// `isLocal`: a fence of the vehicle's own. The server's have no `denoise`: a fence with one that changes twice before
    /// an accurate point makes other alarms on the two sides (decision 19).
    func definition(_ dice: inout DiskDice, isLocal: Bool, among entities: [String]) -> FenceDefinition {
        var definition = FenceDefinition(shape(&dice))
        definition.name = "fence \(Int.random(in: 0...999, using: &dice))"
        setRule(of: &definition, &dice)
        definition.isInitialTold = dice.one(in: 3)
        if dice.one(in: 5) { definition.settle = Int.random(in: 1...30, using: &dice) }
        if dice.one(in: 5) { definition.group = dice.one(in: 2) ? "yard" : "town" }
        if dice.one(in: 5) {
            definition.speedLimit = SpeedLimit(
                speed: Int32.random(in: 200...2000, using: &dice), duration: Int.random(in: 0...10, using: &dice))
        }
        if dice.one(in: 4) { definition.through = dice.one(in: 2) }
        if isLocal, dice.one(in: 6) { definition.denoise = 30 }
        if isLocal, dice.one(in: 6) { definition.isReported = true }
        definition.watch = watch(&dice, among: entities)
        return definition
    }

    func shape(_ dice: inout DiskDice) -> ShapeDraft {
        let radius = Double.random(in: 25...(dice.one(in: 3) ? 400 : 120), using: &dice)
        var (north, east) = (metres(&dice), metres(&dice))
        if dice.one(in: 2) {
            // The edge goes through the place where the vehicle may park.
            let angle = Double.random(in: 0...6.28, using: &dice)
            (north, east) = (route.target.north + radius * cos(angle), route.target.east + radius * sin(angle))
        }
        guard dice.one(in: 3) else {
            return ShapeDraft(.circle(centre: route.degrees(north: north, east: east), radius: radius))
        }
        let corners = [(-1.0, -1.0), (-0.8, 1.2), (1.0, 0.9), (0.2, 0.1), (1.1, -1.0)].map { corner in
            route.degrees(north: north + corner.0 * radius, east: east + corner.1 * radius)
        }
        return ShapeDraft(.polygon([[corners]]))
    }

    func watch(_ dice: inout DiskDice, among entities: [String]) -> FenceWatch {
        guard !dice.one(in: 2), let name = entities.randomElement(using: &dice) else { return .everyone }
        return (try? FenceWatch(dice.one(in: 2) ? [name] : entities)) ?? .everyone
    }

    func setRule(of definition: inout FenceDefinition, _ dice: inout DiskDice) {
        (definition.rule, definition.stay) = ([.enter, .exit], nil)
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: definition.rule = [.enter]
        case 1:
            definition.rule = [.enter, .exit, .stay]
            definition.stay = StayRule(
                after: Int.random(in: 5...60, using: &dice), every: dice.one(in: 2) ? 20 : nil)
        default: break
        }
    }

    private func metres(_ dice: inout DiskDice) -> Double {
        Double.random(in: -Route.reach...Route.reach, using: &dice)
    }

    /// The same fence, changed as an operator changes it: its area, its rule, its watch, or its name alone.
    func edited(_ definition: FenceDefinition, _ dice: inout DiskDice, among entities: [String]) -> FenceDefinition {
        var changed = definition
        switch Int.random(in: 0..<6, using: &dice) {
        case 0: changed.name = "fence \(Int.random(in: 1000...9999, using: &dice))"
        case 1: changed.shape = shape(&dice)
        case 2: changed.watch = watch(&dice, among: entities)
        case 3: setRule(of: &changed, &dice)
        case 4:
            changed.speedLimit = definition.speedLimit == nil ? SpeedLimit(speed: 800, duration: 5) : nil
        default:
            // Around the same place, so that the vehicle may be inside before and after.
            guard case .circle(let centre, let radius) = definition.shape.outline else {
                changed.shape = shape(&dice)
                break
            }
            changed.shape = ShapeDraft(
                .circle(centre: centre, radius: radius * Double.random(in: 0.5...2, using: &dice)))
        }
        return changed
    }
}
