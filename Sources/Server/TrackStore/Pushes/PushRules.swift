/// The numbers of pushes: messages from the server to the agents. See docs/formats/track-protocol.md.
package enum PushRules {
    /// A server fence's alarm.
    package static let fenceAlarm: UInt32 = 3
    /// An alarm of a fence of another vehicle's own.
    package static let vehicleAlarm: UInt32 = 4
    /// What an operator's message has unless told otherwise; those up to 255 are the operator's to give a meaning.
    package static let message: UInt32 = 65
    package static let messages: ClosedRange<UInt32> = 65...255
    /// Pushes other than the operator's messages that may wait for an entity. While so many wait, no message about another
    /// entity's alarm is queued for it.
    package static let mostWaiting = 1000
    /// Longest body, bytes of UTF-8.
    package static let maximumBodyBytes = 8192
    /// Milliseconds that a push stays in the store, and the longest time in which it is delivered.
    package static let history: Int64 = 7 * 86_400_000

    /// Whether a push goes before those that vehicles cause: the operator's messages do.
    package static func isFirst(_ type: UInt32) -> Bool { messages.contains(type) }
}
