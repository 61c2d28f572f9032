/// Everything that the agent knows about itself: the reply of `GetStatus` and the first event of `Monitor`.
///
/// Times are milliseconds since 1970-01-01T00:00:00Z. What is unknown or does not apply is nil and not in the JSON.
package struct AgentStatus: Codable, Hashable, Sendable {
    /// The version of the agent, such as `1.0.0`.
    package var version: String
    /// The agent's system clock when it answered.
    package var time: Int64
    /// When the agent started, by its system clock.
    package var startedTime: Int64
    /// The entity the service runs as, or ran as last.
    package var entity: String?
    /// Whether a point that is gathered now reaches the server without help from a person.
    package var tracked: Bool
    /// A sentence: why the vehicle is tracked, or what prevents it.
    package var reason: String
    /// What prevents it, as one word, a raw value of `TrackingObstacle`. Nil when the vehicle is tracked, and from an agent that does
    /// not say.
    package var obstacle: String?
    package var service: ServiceStatus
    package var gather: GatherStatus
    package var feed: FeedStatus
    package var link: LinkStatus
    package var cache: CacheStatus
    package var counters: AgentCounters
    package var settings: AgentSettings
    package var attributes: AttributesStatus?
    package var clock: ClockStatus?
    package var alarms: AlarmsStatus?
    /// Nil when no hooks are configured.
    package var hooks: HooksStatus?
    /// Nil from an agent that does not say.
    package var remembered: DurableStateStatus?
    /// Nil from an agent that keeps no fences.
    package var fences: FencesStatus?
    /// Nil from an agent that does not say.
    package var health: HealthStatus?
    /// Whether the disk was in another computer when the agent ran last; nil from an agent that does not say.
    package var isOnAnotherComputer: Bool?

    package init(
        version: String, time: Int64, startedTime: Int64, entity: String? = nil, tracked: Bool, reason: String,
        obstacle: String? = nil, service: ServiceStatus, gather: GatherStatus, feed: FeedStatus, link: LinkStatus,
        cache: CacheStatus,
        counters: AgentCounters, settings: AgentSettings, attributes: AttributesStatus? = nil,
        clock: ClockStatus? = nil, alarms: AlarmsStatus? = nil, hooks: HooksStatus? = nil,
        remembered: DurableStateStatus? = nil, fences: FencesStatus? = nil, health: HealthStatus? = nil,
        isOnAnotherComputer: Bool? = nil
    ) {
        self.version = version
        self.time = time
        self.startedTime = startedTime
        self.entity = entity
        self.tracked = tracked
        self.reason = reason
        self.obstacle = obstacle
        self.service = service
        self.gather = gather
        self.feed = feed
        self.link = link
        self.cache = cache
        self.counters = counters
        self.settings = settings
        self.attributes = attributes
        self.clock = clock
        self.alarms = alarms
        self.hooks = hooks
        self.remembered = remembered
        self.fences = fences
        self.health = health
        self.isOnAnotherComputer = isOnAnotherComputer
    }

    enum CodingKeys: String, CodingKey {
        case version, time, entity, tracked, reason, obstacle, service, gather, feed, link, cache, counters, settings,
            attributes, clock, alarms, hooks, remembered, fences, health
        case startedTime = "started_time"
        case isOnAnotherComputer = "on_another_computer"
    }
}

/// The state of the service.
package struct ServiceStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        case stopped, starting, running, stopping
    }

    package var state: State
    /// When the service entered this state.
    package var since: Int64?
    /// The entity that the service runs as.
    package var entity: String?

    package init(state: State, since: Int64? = nil, entity: String? = nil) {
        self.state = state
        self.since = since
        self.entity = entity
    }
}

/// The state of gathering.
package struct GatherStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        case stopped
        /// Gathering is started, but there is no fix.
        case waiting
        case gathering
    }

    package var state: State
    package var since: Int64?
    /// Time of the newest point gathered since the agent started.
    package var lastPointTime: Int64?
    /// GNSS time at which the stay began. Set only while the vehicle is parked and the agent makes few points for it.
    package var parkedSince: Int64?
    /// What is wrong with the receiver's dates; nil: nothing.
    package var dates: DatesStatus?

    package init(
        state: State, since: Int64? = nil, lastPointTime: Int64? = nil, parkedSince: Int64? = nil,
        dates: DatesStatus? = nil
    ) {
        self.state = state
        self.since = since
        self.lastPointTime = lastPointTime
        self.parkedSince = parkedSince
        self.dates = dates
    }

    enum CodingKeys: String, CodingKey {
        case state, since, dates
        case lastPointTime = "last_point_time"
        case parkedSince = "parked_since"
    }
}

/// The state of the receiver, as gpsd tells it.
package struct FeedStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// The agent needs no fixes now.
        case closed
        /// gpsd has not answered yet.
        case connecting
        /// gpsd does not answer. The agent tries again.
        case unreachable
        /// The system forbids the agent the use of gpsd.
        case permissionDenied = "permission_denied"
        /// gpsd answers, but has no device.
        case noDevice = "no_device"
        /// A device reports, but has no position.
        case noFix = "no_fix"
        case fix
    }

    package var state: State
    package var since: Int64?
    /// gpsd's address, as in `127.0.0.1:2947`.
    package var source: String?
    /// What gpsd calls the device.
    package var device: String?
    /// The last failure, as a sentence.
    package var lastError: String?
    package var lastFix: FixReport?

    package init(
        state: State, since: Int64? = nil, source: String? = nil, device: String? = nil, lastError: String? = nil,
        lastFix: FixReport? = nil
    ) {
        self.state = state
        self.since = since
        self.source = source
        self.device = device
        self.lastError = lastError
        self.lastFix = lastFix
    }

    enum CodingKeys: String, CodingKey {
        case state, since, source, device
        case lastError = "last_error"
        case lastFix = "last_fix"
    }
}

/// The long connection to the server.
package struct LinkStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// The service does not need a connection.
        case closed
        case connecting
        /// The TLS handshake.
        case handshaking
        case loggingIn = "logging_in"
        case online
        /// The connection failed. The agent tries again at `nextTryTime`.
        case waiting
        /// The server refused the key, the application code or the certificate. The agent tries again slowly.
        case refused
        /// The agent says goodbye and closes the connection.
        case closing
    }

    package var state: State
    package var since: Int64?
    /// The address, such as `track.example.org:7443`.
    package var server: String?
    /// The server's name of the session.
    package var session: String?
    /// Why the connection was lost or could not be made, as a sentence. It stays until the next session begins.
    package var lastError: String?
    /// The cause as one word, when there is a word for it: `connect_refused`, `certificate_untrusted`, `key_refused`, …
    package var lastErrorCause: String?
    package var nextTryTime: Int64?
    /// Tries since the last session.
    package var attempts: Int64?
    /// Protocol and cipher, such as `TLSv1.3 TLS_AES_256_GCM_SHA384`.
    package var encryption: String?
    /// When the time without a session began. Each try changes `since`, but not this time.
    package var offlineSince: Int64?

    package init(
        state: State, since: Int64? = nil, server: String? = nil, session: String? = nil, lastError: String? = nil,
        lastErrorCause: String? = nil, nextTryTime: Int64? = nil, attempts: Int64? = nil, encryption: String? = nil,
        offlineSince: Int64? = nil
    ) {
        self.state = state
        self.since = since
        self.server = server
        self.session = session
        self.lastError = lastError
        self.lastErrorCause = lastErrorCause
        self.nextTryTime = nextTryTime
        self.attempts = attempts
        self.encryption = encryption
        self.offlineSince = offlineSince
    }

    enum CodingKeys: String, CodingKey {
        case state, since, server, session, attempts, encryption
        case lastError = "last_error"
        case lastErrorCause = "last_error_cause"
        case nextTryTime = "next_try_time"
        case offlineSince = "offline_since"
    }
}

/// The newest fix.
package struct FixReport: Codable, Hashable, Sendable {
    /// GNSS time.
    package var time: Int64
    /// Milliseconds from the arrival of the fix to the status, by a clock that does not jump.
    package var age: Int64
    /// Degrees, WGS 84.
    package var latitude: Double
    package var longitude: Double
    /// Metres per second over ground.
    package var speed: Double?
    /// Degrees from true north.
    package var course: Double?
    /// Metres above mean sea level.
    package var altitude: Double?
    /// Estimated horizontal error, metres.
    package var accuracy: Double?
    /// Dimensions of the solution: 2 or 3.
    package var mode: Int64?
    /// gpsd's status number, 1 for a plain fix.
    package var status: Int64?
    /// Satellites used.
    package var satellites: Int64?

    package init(
        time: Int64, age: Int64, latitude: Double, longitude: Double, speed: Double? = nil, course: Double? = nil,
        altitude: Double? = nil, accuracy: Double? = nil, mode: Int64? = nil, status: Int64? = nil,
        satellites: Int64? = nil
    ) {
        self.time = time
        self.age = age
        self.latitude = latitude
        self.longitude = longitude
        self.speed = speed
        self.course = course
        self.altitude = altitude
        self.accuracy = accuracy
        self.mode = mode
        self.status = status
        self.satellites = satellites
    }
}
