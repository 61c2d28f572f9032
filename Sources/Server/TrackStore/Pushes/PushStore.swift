package import TrackModel

/// Messages from the server to the agents, and what becomes of them.
package protocol PushStore: Sendable {
    /// Queues a message, in one transaction for all its targets.
    ///
    /// Throws `.unknownService`, `.unknownEntity` when it names one that the service does not have, and `.failed` when it
    /// breaks a rule; then nothing is queued.
    func queuePush(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> QueuedPush
    /// What an entity has not acknowledged of the messages after a cursor and whose lifetime has not ended, at most `limit`; nil: of
    /// all messages. The operator's messages come first (``PushRules/isFirst(_:)``), then the others, both in their order. Fewer than `limit`: there are no more now. `through` is the cursor to ask after
    /// next. A store may tell of a push twice and forgets none. Throws `.failed` for a cursor that another store made.
    func pendingPushes(
        of entity: String, in service: ServiceID, after cursor: StoreCursor?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> (through: StoreCursor, pushes: [PendingPush])
    /// How many pushes were not queued since the store was opened, because too many waited for their targets: see
    /// ``NewPush/about``.
    func pushesLeftOut() async -> Int
    /// Notes all settlements in one transaction. The first acknowledgement of a push counts. A push that the store does
    /// not have is passed over.
    func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError)
    /// The newest message first, of one message in the order of the entities' names; and how many match in all.
    func pushes(
        in service: ServiceID, matching filter: PushFilter, at now: Timestamp, page: Page
    ) async throws(TrackStoreError) -> (total: Int, pushes: [PushRecord])
    /// Removes pushes queued before a time, at most about `limit`; returns how many. 0: there are no more.
    func removePushes(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int
}

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

/// Which pushes of a service to list; all conditions must hold.
package struct PushFilter: Hashable, Sendable {
    package var entity: String?
    package var state: PushRecord.State?

    package init(entity: String? = nil, state: PushRecord.State? = nil) {
        self.entity = entity
        self.state = state
    }
}

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
