/// A guarantee of the design that a history broke; the numbers are those of docs/simulation.md.
package struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Guarantee: Int, Hashable, Sendable, CaseIterable {
        case exactlyOnce = 1
        case order = 2
        case acknowledgementAfterCommit = 3
        case gatheringNeverWaits = 4
        case timeGrid = 5
        case boundedMemory = 6
        case recovery = 7
        case liveness = 8
        case alarms = 9
        case hooks = 10
        case fences = 11
        case gaps = 12
    }

    package let guarantee: Guarantee
    package let detail: String

    package var description: String { "guarantee \(guarantee.rawValue) (\(guarantee)): \(detail)" }
}

/// Why a check did not hold for some points of a history.
package enum Weakness: String, Hashable, Sendable, CaseIterable {
    case lostToFlippedBits = "points that may be gone because bits of the disk flipped"
    case lostInRefusedFile = "points that may be gone because the disk refused their file for good"
    case lostWithServer = "points that the server had acknowledged after its backup was made"
    case earlyMayDiffer = "early alarms that the server may not find because vehicle or server did not get all points"
    case ownUnsure = "processes whose own fences changed while the ring was read"
    case late = "points that newer ones overtook because the disk refused their file for long"
}

/// How often a check did not hold.
package struct Weakened: Hashable, Sendable {
    package var histories = 0
    package var points = 0
}
