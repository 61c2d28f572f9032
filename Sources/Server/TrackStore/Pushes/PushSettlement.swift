package import TrackModel

/// How the delivery of a push ended, for good or for now.
package struct PushSettlement: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// The agent has it on its disk.
        case acknowledged
        /// A session did not acknowledge it in time; the next login tries again.
        case givenUp
    }

    package var id: UInt64
    package var outcome: Outcome
    package var time: Timestamp

    package init(id: UInt64, outcome: Outcome, time: Timestamp) {
        self.id = id
        self.outcome = outcome
        self.time = time
    }
}
