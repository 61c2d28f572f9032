package import TrackModel

/// The point that caused an early alarm, as the ring numbers it: an alarm of a server fence that the agent has found itself,
/// before the server tells it.
package struct EarlyMark: Hashable, Sendable {
    package var stream: StreamID
    package var sequence: UInt64

    package init(stream: StreamID, sequence: UInt64) {
        self.stream = stream
        self.sequence = sequence
    }
}

/// Points that the server owned, and does not have any more: a backup was put back.
package struct ForgottenPoints: Hashable, Sendable {
    package var stream: StreamID
    package var sequences: ClosedRange<UInt64>
    /// The ring had been told that the server has them. Otherwise only an alarm that the server has confirmed can show that it had.
    package var isCertain: Bool

    package init(stream: StreamID, sequences: ClosedRange<UInt64>, isCertain: Bool = true) {
        self.stream = stream
        self.sequences = sequences
        self.isCertain = isCertain
    }
}

/// An early alarm that nobody has confirmed.
package struct UnconfirmedAlarm: Hashable, Sendable {
    package var number: UInt64
    /// Of the push that will confirm it.
    package var id: UInt64
    package var mark: EarlyMark
    package var entity: String
    package var fence: Int32

    package init(number: UInt64, id: UInt64, mark: EarlyMark, entity: String, fence: Int32) {
        self.number = number
        self.id = id
        self.mark = mark
        self.entity = entity
        self.fence = fence
    }
}
