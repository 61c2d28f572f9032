internal import AgentLogic
internal import ConfigurationFile
internal import FenceDelivery
internal import TrackModel
internal import TrackWire

/// What a login says of this agent, beside the entity and the ring.
struct AgentLogin: Hashable {
    let service: ServiceID
    let accessKey: Secret
    let applicationCode: Secret?
    /// Why no login is possible; nil when one is.
    let trouble: String?
    /// Names the present start of the computer, 16 bytes; empty: unknown.
    let boot: [UInt8]

    /// `boot`: as ``BootName`` reads it.
    init(_ configured: AgentConfiguration.Service, boot: String?) {
        service = configured.id
        accessKey = configured.accessKey
        applicationCode = configured.applicationCode
        trouble = configured.secretTrouble
        self.boot = boot.map(BootName.bytes) ?? []
    }

    /// Without an access key the certificate of the vehicle says who it is. A key that cannot be read is no missing key.
    var isDevice: Bool { accessKey.revealed.isEmpty && trouble == nil }

    /// `fences`: the version of the server's fences that the agent has for the entity.
    func hello(as entity: String, with ring: RingEnds, fences version: UInt64) -> Hello {
        var hello = Hello()
        hello.protocol = WireLimits.protocolVersion
        hello.serviceID = service.rawValue
        hello.ak = accessKey.revealed
        hello.appCode = applicationCode?.revealed ?? ""
        hello.entity = entity
        hello.agentVersion = SakerVersion.text
        hello.streamID = ring.stream
        hello.firstSequence = ring.first
        hello.nextSequence = ring.next
        hello.fenceFormat = FenceDelivery.format
        hello.fenceVersion = version
        hello.bootBytes = boot
        return hello
    }
}

/// What a server's Welcome says about the server. A server may say any number.
struct ServerCapabilities: Hashable {
    /// The highest batch payload format that the server reads; at least 1.
    private(set) var payloadFormat = 1
    /// The format of fence sets that the server sends; 0: none, and it takes neither requests nor reports.
    private(set) var fenceFormat: UInt32 = 0
    /// Seconds between two reports of the vehicle's health; 0: the server takes none.
    private(set) var healthInterval: UInt32 = 0
    /// Milliseconds that the server's clock was ahead of this machine's; negative: behind; nil: not known.
    private(set) var clockDifference: Int64?

    /// Before the first login.
    init() {}

    /// `now`: this machine's clock as the Welcome arrived.
    init(_ welcome: Welcome, at now: SystemTime) {
        // 0 says nothing: the server is older than the second format.
        payloadFormat = Int(clamping: max(welcome.payloadFormat, 1))
        fenceFormat = min(welcome.fenceFormat, FenceDelivery.format)
        healthInterval = welcome.healthInterval
        let (difference, isAbsurd) = welcome.serverTime.subtractingReportingOverflow(now.milliseconds)
        clockDifference = isAbsurd || welcome.serverTime == 0 ? nil : difference
    }
}

extension UplinkLimits {
    init(_ limits: Limits) {
        self.init(
            batchPoints: limits.batchPoints, windowBatches: limits.windowBatches, windowBytes: limits.windowBytes)
    }
}

/// What the server of the present session has heard of the vehicle's health.
struct HealthReportTracker {
    /// How the vehicle is now; nil: nobody can say.
    private let read: () -> HealthReport?
    /// Nil: nothing yet in this session.
    private var told: HealthReport?
    /// When a server was told last, in this session or before; nil: never.
    private(set) var toldTime: SystemTime?

    init(_ read: @escaping () -> HealthReport?) { self.read = read }

    mutating func loggedIn() { told = nil }

    /// Whether something has changed since the last report of the session that is sent at once. False before the first report,
    /// which is sent in any case.
    var hasUrgentChange: Bool {
        guard let told, let now = read() else { return false }
        return now.isUrgent(after: told)
    }

    /// The next heartbeat, with the health when the server takes it. `time`: now.
    mutating func heartbeat(to capabilities: ServerCapabilities, at time: SystemTime) -> Heartbeat {
        var heartbeat = Heartbeat()
        guard capabilities.healthInterval > 0 else { return heartbeat }
        told = read()
        if told != nil { toldTime = time }
        heartbeat.report = told
        return heartbeat
    }
}

/// The newest point of the ring, which goes ahead of a backlog: docs/decisions/0009-live-hint.md.
struct LiveHint {
    let point: TrackPoint
    let entity: String

    /// The heartbeat that carries the hint in a session of an entity, in a batch payload format. Nil: the point belongs to
    /// another entity. A hint that attributes make longer than ``WireLimits/liveHintBytes`` goes without them.
    func heartbeat(as entity: String, format: Int) -> Heartbeat? {
        guard ExactName(self.entity) == ExactName(entity) else { return nil }
        var point = point
        var bytes = PointRecord.encode(point, format: format)
        if bytes.count > WireLimits.liveHintBytes {
            point.attributes = [:]
            bytes = PointRecord.encode(point, format: format)
        }
        var heartbeat = Heartbeat()
        heartbeat.liveHintBytes = bytes
        return heartbeat
    }
}
