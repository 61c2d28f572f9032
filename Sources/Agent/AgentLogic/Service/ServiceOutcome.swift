/// One call of somebody who waits for its answer.
package struct RequestID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// What became of "start service". Reasons are sentences for people.
package enum StartServiceOutcome: Hashable, Sendable {
    /// Started and logged in.
    case success
    /// Started; the server cannot be reached now and is tried again until it can.
    case successButOffline(reason: String)
    /// Not started: the agent or the server says that a value breaks its rule.
    case parameterError(reason: String)
    /// Started, and of no use yet: the agent cannot use its own configuration for a connection. Tried again slowly.
    case internalError(reason: String)
    /// Started: the name of the server cannot be resolved. Tried again until it can.
    case networkError(reason: String)
    /// Started, and of no use yet: the access key, application code or certificate is refused. Tried again slowly.
    case authenticationError(reason: String)
    /// Another start or a stop is still at work.
    case inProgress
    case alreadyStarted
}

/// What became of "stop service".
package enum StopServiceOutcome: Hashable, Sendable {
    /// Stopped. `drained`: all points that were to be uploaded had reached the server.
    case success(drained: Bool)
    case notYetStarted
    /// Another stop is still at work.
    case inProgress
}

/// What became of "start gather".
package enum StartGatherOutcome: Hashable, Sendable {
    case success
    /// Started for a caller who wants to keep trying: points are made when what is missing is there.
    case successWithoutReceiver(reason: String)
    case alreadyStarted
    case serviceNotStarted
    /// gpsd cannot be reached or has no receiver.
    case locationOff(reason: String)
    /// The system forbids the agent the use of gpsd.
    case permissionDenied(reason: String)
    case internalError(reason: String)
}

/// What became of "stop gather".
package enum StopGatherOutcome: Hashable, Sendable {
    case success
    case notYetStarted
}

package enum ServiceReply: Hashable, Sendable {
    case startService(StartServiceOutcome)
    case stopService(StopServiceOutcome)
    case startGather(StartGatherOutcome)
    case stopGather(StopGatherOutcome)
}

/// What the agent was told last: what it resumes at the next boot.
package struct TargetState: Hashable, Sendable {
    /// The entity the service runs as, or ran as last.
    package var entity: String?
    package var isServiceStarted: Bool
    package var isGathering: Bool

    package init(entity: String? = nil, isServiceStarted: Bool = false, isGathering: Bool = false) {
        self.entity = entity
        self.isServiceStarted = isServiceStarted
        self.isGathering = isGathering
    }
}

/// Whether fixes can come. Reasons are sentences for people.
package enum LocationState: Hashable, Sendable {
    /// The feed is closed, or has found out nothing yet.
    case unknown
    /// There is a receiver; it may still be looking for satellites.
    case available
    /// gpsd cannot be reached or has no receiver.
    case off(reason: String)
    case forbidden(reason: String)
    /// The agent cannot run a feed.
    case failed(reason: String)
}
