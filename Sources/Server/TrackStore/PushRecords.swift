package import TrackModel

/// The numbers of pushes: messages from the server to the agents. See docs/formats/track-protocol.md.
package enum PushRules {
    /// A server fence's alarm.
    package static let fenceAlarm: UInt32 = 3
    /// What an operator's message has unless told otherwise; those up to 255 are the operator's to give a meaning.
    package static let message: UInt32 = 65
    package static let messages: ClosedRange<UInt32> = 65...255
    /// Longest body, bytes of UTF-8.
    package static let maximumBodyBytes = 8192
    /// Milliseconds that a push stays in the store, and the longest time in which it is delivered.
    package static let history: Int64 = 7 * 86_400_000
}

/// Whom a message is for.
package enum PushTargets: Hashable, Sendable {
    /// Each of these once, by name.
    case entities([String])
    /// Every entity that the service has when the message is queued.
    case service
}

/// A message to be queued.
package struct NewPush: Hashable, Sendable {
    /// 1 to 255, see ``PushRules``.
    package var type: UInt32
    /// A JSON object; the caller has checked that it is one.
    package var body: String
    package var targets: PushTargets
    /// Milliseconds after which it is no longer delivered; 1 to ``PushRules/history``.
    package var lifetime: Int64

    package init(type: UInt32, body: String, targets: PushTargets, lifetime: Int64 = PushRules.history) {
        self.type = type
        self.body = body
        self.targets = targets
        self.lifetime = lifetime
    }

    /// What keeps it from being queued, a sentence; nil when nothing does.
    package var problem: String? {
        guard (1...255).contains(type) else { return "a push has a type from 1 to 255, not \(type)" }
        guard body.utf8.count <= PushRules.maximumBodyBytes else {
            return "a push has at most \(PushRules.maximumBodyBytes) bytes, this one \(body.utf8.count)"
        }
        guard (1...PushRules.history).contains(lifetime) else {
            return "a push lives for 1 to \(PushRules.history) ms, not \(lifetime)"
        }
        return nil
    }
}

/// A message that a point brings about: queued in the transaction of the point, or not at all.
package struct CausedPush: Hashable, Sendable {
    /// Of the point; nil for a custom point. When the point had been stored before, so had the push.
    package var sequence: UInt64?
    /// Targets that the service does not have are left out: an alarm must not hold up a point.
    package var push: NewPush

    package init(by sequence: UInt64?, _ push: NewPush) {
        self.sequence = sequence
        self.push = push
    }
}

/// What became of a message that was queued.
package struct QueuedPush: Hashable, Sendable {
    /// Greater than that of every message queued before, and never used again.
    package var message: Int64
    /// Entities that get it.
    package var count: Int

    package init(message: Int64, count: Int) {
        self.message = message
        self.count = count
    }
}

/// A message on its way to one entity.
package struct PendingPush: Hashable, Sendable {
    /// On the wire: greater than 0, random, so that another store (a new one, or a restored backup) never uses it again.
    package var id: UInt64
    package var message: Int64
    package var type: UInt32
    package var body: String
    package var created: Timestamp

    package init(id: UInt64, message: Int64, type: UInt32, body: String, created: Timestamp) {
        self.id = id
        self.message = message
        self.type = type
        self.body = body
        self.created = created
    }
}

/// Word of a message that was queued: whose sessions are to look for it.
package struct PushNews: Hashable, Sendable {
    package var message: Int64
    package var service: ServiceID
    /// Nil: so many that all sessions of the service are to look.
    package var entities: [String]?

    package init(message: Int64, service: ServiceID, entities: [String]?) {
        self.message = message
        self.service = service
        self.entities = entities
    }

    /// Beyond so many targets, names are not told.
    package static let maximumEntities = 100
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

/// A push in the history.
package struct PushRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Not acknowledged yet: its agent is not connected, or it is being tried.
        case waiting
        case delivered
        /// A session did not acknowledge it in time; the next login within its lifetime tries again.
        case givenUp = "given-up"
        /// Its lifetime ended before anybody acknowledged it.
        case expired
    }

    package var push: PendingPush
    package var entity: String
    package var expires: Timestamp
    package var acknowledged: Timestamp?
    package var givenUp: Timestamp?

    package init(
        push: PendingPush, entity: String, expires: Timestamp, acknowledged: Timestamp? = nil,
        givenUp: Timestamp? = nil
    ) {
        self.push = push
        self.entity = entity
        self.expires = expires
        self.acknowledged = acknowledged
        self.givenUp = givenUp
    }

    package func state(at now: Timestamp) -> State {
        if acknowledged != nil { return .delivered }
        if expires <= now { return .expired }
        return givenUp == nil ? .waiting : .givenUp
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
