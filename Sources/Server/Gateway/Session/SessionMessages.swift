import FenceDelivery
import TrackModel
import TrackStore
import TrackWire

// The messages of the gateway to an agent.

extension Welcome {
    init(
        _ admission: AcceptedLogin, to request: LoginRequest, session: UInt64, _ limits: GatewayLimits,
        _ deadlines: GatewayDeadlines, at clock: Timestamp
    ) {
        self.init()
        self.session = session
        serverTime = clock.milliseconds
        // What the agent still has, it sends: with a copied disk these may be other points under the same sequences.
        let stored = admission.claim.storedThrough
        storedThrough = request.waiting.isEmpty ? stored : min(stored, request.waiting.lowerBound - 1)
        // The floor is told last: an agent that does not know it takes no more columns than a service can have.
        trackColumns = admission.columns.filter { $0.key != FloorAttribute.key }.map { TrackColumn($0.key, $0.type) }
        trackColumns.append(TrackColumn(FloorAttribute.key, .string))
        heartbeatInterval = UInt32(clamping: deadlines.heartbeatInterval)
        self.limits.batchPoints = UInt32(clamping: limits.batchPoints)
        self.limits.windowBatches = UInt32(clamping: limits.windowBatches)
        self.limits.windowBytes = UInt32(clamping: limits.windowBytes)
        payloadFormat = UInt32(WireLimits.payloadFormat)
        fenceFormat = min(request.fenceFormat, FenceDelivery.format)
        // Whoever has chosen rarer heartbeats wants less traffic. What an operator should hear of comes at once anyway.
        healthInterval = UInt32(clamping: max(WireLimits.healthInterval, deadlines.heartbeatInterval))
    }
}

extension TrackColumn {
    fileprivate init(_ key: String, _ type: AttributeType) {
        self.init()
        self.key = key
        switch type {
        case .integer: self.type = .integer
        case .double: self.type = .double
        case .string: self.type = .string
        }
    }
}

extension LoginRefusal {
    var frame: ServerFrame {
        var refused = Refused()
        refused.code = code
        refused.reason = reason
        refused.retryAfter = retryAfter
        refused.entity = entity
        return ServerFrame(.refused(refused))
    }
}

extension Push {
    init(_ push: PendingPush) {
        self.init()
        id = push.id
        type = push.type
        json = push.body
        time = push.created.milliseconds
    }
}

extension Duration {
    /// Whole milliseconds, rounded down; clamped at the ends of the range.
    var milliseconds: Int64 {
        let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return components.seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = seconds.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }
}
