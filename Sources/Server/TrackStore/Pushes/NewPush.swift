package import Geofencing

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
