package import Geofencing
package import TrackModel

/// A push in the history.
package struct PushRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Not acknowledged yet: the agent is not connected, or the server is trying.
        case waiting
        case delivered
        /// A session did not acknowledge it in time; the next login within its lifetime tries again.
        case givenUp = "given-up"
        /// Its lifetime ended before anybody acknowledged it.
        case expired
        /// Its entity was deleted before anybody acknowledged it.
        case withdrawn
    }

    package var push: PendingPush
    /// The name of its entity, which may have been deleted since.
    package var entity: String
    package var expires: Timestamp
    package var acknowledged: Timestamp?
    package var givenUp: Timestamp?
    package var withdrawn: Timestamp?

    package init(
        push: PendingPush, entity: String, expires: Timestamp, acknowledged: Timestamp? = nil,
        givenUp: Timestamp? = nil, withdrawn: Timestamp? = nil
    ) {
        self.push = push
        self.entity = entity
        self.expires = expires
        self.acknowledged = acknowledged
        self.givenUp = givenUp
        self.withdrawn = withdrawn
    }

    package func state(at now: Timestamp) -> State {
        if acknowledged != nil { return .delivered }
        if withdrawn != nil { return .withdrawn }
        if expires <= now { return .expired }
        return givenUp == nil ? .waiting : .givenUp
    }
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
    /// The alarm that the message tells: each target's push gets the number that agent and server derive from it, see
    /// ``AlarmKey/pushID(to:)``. A push with a number that the store has already is not queued again. Nil: random numbers.
    package var alarm: AlarmKey?
    /// Whose alarm it is. For every other target it is a message about another entity, of which at most
    /// ``PushRules/mostWaiting`` wait: further ones are left out and counted. Nil: nobody's.
    package var about: String?

    package init(
        type: UInt32, body: String, targets: PushTargets, lifetime: Int64 = PushRules.history, alarm: AlarmKey? = nil,
        about: String? = nil
    ) {
        self.type = type
        self.body = body
        self.targets = targets
        self.lifetime = lifetime
        self.alarm = alarm
        self.about = about
    }

    /// Whether it tells this target of another entity's alarm.
    package func isAboutAnother(than target: String) -> Bool {
        about.map { !$0.utf8.elementsEqual(target.utf8) } ?? false
    }

    /// Why the message cannot be queued, a sentence; nil when it can.
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

/// A message that a point causes: queued in the transaction of the point, or not at all.
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

/// A message on its way to one entity.
package struct PendingPush: Hashable, Sendable {
    /// On the wire: greater than 0, random, so that another store (a new one, or a restored backup) never uses it again.
    package var id: UInt64
    /// Which message, for people. Numbers of messages say nothing of their order.
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

/// What became of a message that was queued.
package struct QueuedPush: Hashable, Sendable {
    /// Greater than that of every message queued before, and never used again.
    package var message: Int64
    /// Entities that get it.
    package var count: Int
    /// Entities that do not get it, because too many wait for them: see ``NewPush/about``.
    package var leftOut = 0

    package init(message: Int64, count: Int) {
        self.message = message
        self.count = count
    }
}
