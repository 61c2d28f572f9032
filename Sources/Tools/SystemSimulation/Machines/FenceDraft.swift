internal import Geodesy
internal import Geofencing
internal import TrackModel
internal import TrackTestKit

/// Makes the fences of a history: areas of every kind that the vehicle's route crosses, with most of the rules that a fence
/// may have.
///
/// Left out: other datums, and named time zones, which the simulated vehicle does not know. Floors are ``FenceWorld``'s.
struct FenceDraft {
    let route: FencedRoute
    /// Milliseconds since 1970: validity begins and ends around this time.
    private let time: Int64

    init(around route: FencedRoute, at time: Int64) {
        (self.route, self.time) = (route, time)
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
        if dice.one(in: 4) { definition.speedLimit = speedLimit(&dice) }
        if dice.one(in: 4) { definition.through = dice.one(in: 2) }
        if dice.one(in: 8) { definition.crossingGap = [0, 5, 30, 300].randomElement(using: &dice) ?? 120 }
        if dice.one(in: 6) { definition.validity = validity(&dice) }
        if dice.one(in: 10) { definition.altitude = altitude(&dice) }
        if isLocal, dice.one(in: 6) { definition.denoise = 30 }
        if isLocal, dice.one(in: 6) { definition.isReported = true }
        definition.watch = watch(&dice, among: entities)
        return definition
    }

    func watch(_ dice: inout DiskDice, among entities: [String]) -> FenceSubjects {
        guard !dice.one(in: 2), let name = entities.randomElement(using: &dice) else { return .everyone }
        return (try? FenceSubjects(dice.one(in: 2) ? [name] : entities)) ?? .everyone
    }

    func setRule(of definition: inout FenceDefinition, _ dice: inout DiskDice) {
        (definition.rule, definition.stay) = ([.enter, .exit], nil)
        switch Int.random(in: 0..<7, using: &dice) {
        case 0: definition.rule = [.enter]
        case 1: definition.rule = [.exit]
        case 2: (definition.rule, definition.stay) = ([.enter, .exit, .stay], stay(&dice))
        case 3: (definition.rule, definition.stay) = ([.stay], stay(&dice))
        default: break
        }
    }

    // MARK: Rules

    /// A dwell, or a stay that is told again and again.
    private func stay(_ dice: inout DiskDice) -> StayAlarmRule? {
        StayAlarmRule(
            after: Int.random(in: 5...(dice.one(in: 3) ? 400 : 60), using: &dice),
            every: dice.one(in: 2) ? Int.random(in: 10...60, using: &dice) : nil)
    }

    /// The vehicle drives at 2 to 40 m/s.
    private func speedLimit(_ dice: inout DiskDice) -> SpeedLimit? {
        SpeedLimit(speed: Int32.random(in: 200...2500, using: &dice), duration: Int.random(in: 0...20, using: &dice))
    }

    /// Whole seconds. The time of the change may lie before, inside, or behind.
    private func validity(_ dice: inout DiskDice) -> FenceValidity {
        func second(_ dice: inout DiskDice) -> Int64 { time / 1000 + Int64.random(in: -900...1800, using: &dice) }
        var validity = FenceValidity()
        if dice.one(in: 2) {
            let (one, other) = (second(&dice), second(&dice))
            if !dice.one(in: 4) { validity.from = Timestamp(milliseconds: min(one, other) * 1000) }
            if !dice.one(in: 4) { validity.through = Timestamp(milliseconds: max(one, other) * 1000) }
        } else {
            let offset = Int32.random(in: -48...56, using: &dice) * 900
            validity.zone = .offset(offset)
            for _ in 0..<Int.random(in: 1...3, using: &dice) {
                let from = (second(&dice) + Int64(offset) + 86_400) % 86_400
                let to = (from + Int64.random(in: 30...1800, using: &dice)) % 86_400
                let days: UInt8 = dice.one(in: 2) ? 127 : UInt8.random(in: 1...127, using: &dice)
                if let window = WeeklyWindow(days: days, from: Int32(from), to: Int32(to)) {
                    validity.windows.append(window)
                }
            }
        }
        return validity
    }

    /// Fixes have altitudes between −50 and 2,000 m: one of some dozens lies outside of the range.
    private func altitude(_ dice: inout DiskDice) -> AltitudeRange? {
        let (lower, upper) = (
            Int32.random(in: -45...0, using: &dice) * 10, Int32.random(in: 1950...1995, using: &dice) * 10
        )
        switch Int.random(in: 0..<3, using: &dice) {
        case 0: return AltitudeRange(lower: lower, upper: nil)
        case 1: return AltitudeRange(lower: nil, upper: upper)
        default: return AltitudeRange(lower: lower, upper: upper)
        }
    }

    // MARK: Changes

    /// The same fence, changed as an operator changes it: its area, its rules, its watch, or its name alone.
    func edited(_ definition: FenceDefinition, _ dice: inout DiskDice, among entities: [String]) -> FenceDefinition {
        var changed = definition
        switch Int.random(in: 0..<8, using: &dice) {
        case 0: changed.name = "fence \(Int.random(in: 1000...9999, using: &dice))"
        case 1: changed.shape = shape(&dice)
        case 2: changed.watch = watch(&dice, among: entities)
        case 3: setRule(of: &changed, &dice)
        case 4: changed.speedLimit = definition.speedLimit == nil ? speedLimit(&dice) : nil
        case 5: changed.validity = definition.validity == nil || dice.one(in: 2) ? validity(&dice) : nil
        case 6: changed.altitude = definition.altitude == nil && dice.one(in: 2) ? altitude(&dice) : nil
        default: changed.shape = resized(definition.shape, &dice) ?? shape(&dice)
        }
        return changed
    }
}
