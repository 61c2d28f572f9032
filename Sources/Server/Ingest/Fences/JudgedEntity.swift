import FenceJudging
import TrackStore

/// What the desk knows of an entity. Only the desk has it. An object, because each batch would copy a value twice.
final class JudgedEntity {
    enum Own: Sendable {
        case none
        case some(OwnFences)
    }

    /// Nil: they must be read.
    var own: Own?
    var generation = 0
    /// Nil: it must be read.
    var state: (remembered: JudgedState, version: Int64)?
    /// The fences by which the entity's vehicle judged; nil when the store does not know them any more.
    var earlier: [FencesUsed: JudgingFences?] = [:]
    /// The version of the service at which `earlier` was read.
    var earlierOf: Int64 = 0
}
