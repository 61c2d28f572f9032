/// How much the points of a batch may bring about. What is beyond is counted and not made.
package struct AlarmBudget: Hashable, Sendable {
    package var alarms: Int
    /// Messages to other entities than the one that moved.
    package var messages: Int
    package var untoldAlarms = 0
    package var untoldMessages = 0

    package init(alarms: Int = .max, messages: Int = .max) {
        (self.alarms, self.messages) = (alarms, messages)
    }

    /// False: there is no room for a further alarm.
    package mutating func takeAlarm() -> Bool {
        guard alarms > 0 else {
            untoldAlarms += 1
            return false
        }
        alarms -= 1
        return true
    }

    /// All of the messages of one alarm, or none: false.
    package mutating func takeMessages(_ count: Int) -> Bool {
        guard count <= messages else {
            untoldMessages += count
            return false
        }
        messages -= count
        return true
    }
}
