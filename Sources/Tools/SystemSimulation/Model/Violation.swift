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
