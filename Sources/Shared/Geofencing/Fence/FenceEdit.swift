internal import Geodesy
internal import TrackModel

/// How much a change of a fence changes.
package enum FenceEdit: Hashable, Sendable, Comparable {
    case nothing
    /// Names, actions, who is watched: the same revision.
    case description
    /// What is told, and when: a new revision; places stay.
    case rule
    /// Shape, denoise, floor or altitude: a new revision; places are set anew, without an alarm.
    case area

    init(from old: FenceDefinition, _ oldShape: Shape, to new: FenceDefinition, _ newShape: Shape) {
        let isSameArea =
            oldShape == newShape && old.denoise == new.denoise && Self.isSame(old.floor, new.floor)
            && old.altitude == new.altitude
        let isSameRule = Self.ruling(old) == Self.ruling(new) && Self.isSame(old.group, new.group)
        self = !isSameArea ? .area : !isSameRule ? .rule : old != new ? .description : .nothing
    }

    /// Floors and groups count byte by byte, and `String` takes two spellings of one text for equal.
    private static func isSame(_ old: String?, _ new: String?) -> Bool {
        old.map { ExactName($0) } == new.map { ExactName($0) }
    }

    /// A definition with nothing in it but what decides which alarms there are.
    private static func ruling(_ definition: FenceDefinition) -> FenceDefinition {
        var ruling = FenceDefinition(ShapeDraft(.point(Degrees(latitude: 0, longitude: 0))))
        ruling.rule = definition.rule
        ruling.stay = definition.stay
        ruling.settle = definition.settle
        ruling.isInitialTold = definition.isInitialTold
        ruling.through = definition.through
        ruling.crossingGap = definition.crossingGap
        ruling.validity = definition.validity
        ruling.speedLimit = definition.speedLimit
        return ruling
    }
}
