package import TrackModel

/// The URLs of operators, and the alarms that wait to be sent there.
///
/// An alarm is queued in the transaction that stores it, when its service has a URL then. Alarms of a service are sent in
/// the order of their numbers by one sender at a time, which holds a *claim* on the service.
package protocol CallbackStore: Sendable {
    /// Sets the URL of a service. Nil: the service has none from now on, and nothing waits any more. With another URL what
    /// waits goes to the new one, at once. Throws `.unknownService`, and `.failed` for texts beyond
    /// ``CallbackTarget/mostBytes``.
    func setCallback(_ target: CallbackTarget?, of service: ServiceID) async throws(TrackStoreError)
    /// Nil when the service has none. Throws `.unknownService`.
    func callback(of service: ServiceID) async throws(TrackStoreError) -> CallbackTarget?
    /// The services with something to send at this time that nobody has a claim on, at most `limit`. Costs next to nothing
    /// when nothing waits.
    func dueCallbacks(at now: Timestamp, limit: Int) async throws(TrackStoreError) -> [ServiceID]
    /// Claims a service for a sender through a time, and returns its oldest callbacks, at most `limit`. Nil when nothing is
    /// due, or when another sender has a claim. A sender that has the claim claims it anew. An alarm that cannot be read
    /// waits no longer.
    func claimCallbacks(
        of service: ServiceID, by sender: Int64, at now: Timestamp, through end: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> CallbackClaim?
    /// Ends the claim of a sender. False, and nothing is changed, when the sender does not have it any more.
    func settleCallbacks(
        _ settlement: CallbackSettlement, by sender: Int64
    ) async throws(TrackStoreError) -> Bool
}

/// Where the alarms of a service go: the operator's own server.
package struct CallbackTarget: Hashable, Sendable {
    package var url: String
    /// Signs what is sent. For nobody else's eyes.
    package var secret: String

    package init(url: String, secret: String) {
        self.url = url
        self.secret = secret
    }

    /// Most bytes of a URL and of a secret.
    package static let mostBytes = 2048

    /// Why it cannot be kept, a sentence; nil when it can.
    package var problem: String? {
        for (text, name) in [(url, "URL"), (secret, "secret")] where text.isEmpty || text.utf8.count > Self.mostBytes {
            return "the \(name) of a service's alarms has 1 to \(Self.mostBytes) bytes, not \(text.utf8.count)"
        }
        return nil
    }
}

/// An alarm that waits to be sent to the operator's URL.
package struct QueuedCallback: Hashable, Sendable {
    package var alarm: AlarmRecord
    /// When it was sent first, in vain; nil: not yet.
    package var firstTried: Timestamp?

    package init(alarm: AlarmRecord, firstTried: Timestamp? = nil) {
        self.alarm = alarm
        self.firstTried = firstTried
    }
}

/// What a sender may send now.
package struct CallbackClaim: Hashable, Sendable {
    package var target: CallbackTarget
    /// The oldest ones that wait, in the order of their numbers; never empty.
    package var callbacks: [QueuedCallback]

    package init(target: CallbackTarget, callbacks: [QueuedCallback]) {
        self.target = target
        self.callbacks = callbacks
    }
}

/// How sending a claim ended.
package struct CallbackSettlement: Hashable, Sendable {
    package var service: ServiceID
    /// Numbers of alarms that the operator's server took, or that are given up: they wait no longer.
    package var ended: [Int64]
    /// Numbers of alarms that were sent in vain at `time` and wait on.
    package var failed: [Int64]
    package var time: Timestamp
    /// Nobody sends an alarm of the service before this; nil: at once.
    package var retryAt: Timestamp?

    package init(service: ServiceID, ended: [Int64], failed: [Int64], time: Timestamp, retryAt: Timestamp?) {
        self.service = service
        self.ended = ended
        self.failed = failed
        self.time = time
        self.retryAt = retryAt
    }
}
