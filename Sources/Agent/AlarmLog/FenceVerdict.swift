/// Alarms of the box's own fences, and the state that follows from them. The journal has all of it or nothing.
package struct FenceVerdict: Hashable, Sendable {
    package struct Told: Hashable, Sendable {
        package var content: NewAlarm
        /// Hooks must run for it.
        package var isOwed: Bool
        /// The server is to be told of it.
        package var isReported: Bool

        package init(content: NewAlarm, isOwed: Bool, isReported: Bool = false) {
            self.content = content
            self.isOwed = isOwed
            self.isReported = isReported
        }
    }

    package enum Outcome: Hashable, Sendable {
        /// For each alarm what became of it.
        case taken([AlarmJournal.Appended])
        /// Alarms whose hooks must still run fill the journal, or the verdict is larger than half of it.
        case full
    }

    package var alarms: [Told]
    package var state: FenceState

    package init(alarms: [Told], state: FenceState) {
        self.alarms = alarms
        self.state = state
    }
}
