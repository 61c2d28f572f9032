internal import AgentControl
internal import AgentLogic
internal import MetricsText
internal import TrackModel
internal import TrackWire

extension LinkShell {
    /// Why the link is to end.
    enum Ending {
        /// Somebody stops the service. The last that the server hears is that the vehicle does not gather any more.
        case service
        /// The process ends: what the server has heard stays true.
        case process
    }

    enum Effect {
        /// The state of the connection changed.
        case stateChanged(LinkState)
        /// After a stop: the link is off.
        case finished(isDrained: Bool)
        /// Tell the ring what the server has. ``LinkShell/cacheConfirmed(_:_:)`` is the answer.
        case confirm(LinkID, storedThrough: UInt64, stream: StreamID?)
        /// Read a batch. ``LinkShell/batchRead(_:_:)`` is the answer.
        case read(ReadID, BatchLimits)
        /// The server owns everything of the stream through this number.
        case acknowledge(through: UInt64, stream: StreamID)
        /// Wait until the points that are on their way stand in the ring. ``LinkShell/cacheSettled(before:isDone:)`` is
        /// the answer.
        case settleCache(before: MonotonicTime)
        /// The login succeeded: the service's track columns and the server's clock.
        case welcomed([TrackColumn], serverTime: Int64)
        /// The server answered a request.
        case replied(UInt64, RequestQueue.Kind, ServerFrame.OneOf_Message)
        /// The server sent a push, over the link of this entity.
        case pushed(Push, entity: String)
        /// The login succeeded. `takesFences`: the server sends fences and takes reports. `acknowledged`: what the server had
        /// owned of the stream before.
        case opened(takesFences: Bool, storedThrough: UInt64, acknowledged: UInt64, stream: StreamID?)
        /// The server sent a part of the fences of this link's entity.
        case fenceUpdate(FenceUpdate)
        /// The server answered a report of alarms.
        case reportAnswered(AlarmUploadAck)
        /// The server will never store these points.
        case refusedPoints(Set<UInt64>, stream: StreamID)
    }
}

// The link's part of the status and of the metrics.
extension LinkShell {
    var state: LinkState { linkLog.state }
    /// Milliseconds that the server's clock was ahead of this machine's at the last login; negative: behind.
    var serverClockDifference: Int64? { capabilities.clockDifference }
    /// The end of this agent's certificate, seconds since 1970 UTC; nil: it has none, or does not know.
    var certificateEnd: Int64? { connector.clientCertificateEnd }
    /// When the server was told of the vehicle's health last.
    var healthToldTime: SystemTime? { health.toldTime }
    /// Seconds without a session, 0 with one; nil: none is wanted.
    var silence: Int64? { linkLog.silence(now: context.now) }
    /// The time by which the vehicle's own certificate has ended or not; nil while no clock can be believed.
    var believedTime: Timestamp? { trust.believedTime }
    /// What keeps the vehicle from a session until a person helps.
    var refusal: (trouble: LinkTrouble, since: MonotonicTime)? { linkLog.refusal }
    /// Whether the server has let this vehicle in since the agent started.
    var hasHadSession: Bool { machine.counters.sessions > 0 }
    /// Of the login.
    var serviceNumber: Int64 { login.service.rawValue }
    var unacknowledgedPoints: Int { machine.unacknowledgedPoints }
    /// What the server allows on the present link.
    var limits: UplinkLimits { machine.limits ?? UplinkLimits() }

    var status: LinkStatus {
        linkLog.status(server: "\(server.host):\(server.port)", attempts: machine.counters.attemptsSinceLogin)
    }

    func count(in counters: inout AgentCounters) {
        counters.uploaded = Int64(clamping: machine.counters.points)
        counters.refused = Int64(clamping: refused.count)
        if refused.forDate > 0 { counters.lost["wrong_date", default: 0] += Int64(clamping: refused.forDate) }
        if let last = refused.last?.time.milliseconds {
            counters.lastLossTime = max(counters.lastLossTime ?? last, last)
        }
        counters.sessions = Int64(clamping: machine.counters.sessions)
        counters.hints = Int64(clamping: machine.counters.hints)
    }

    /// `status` as ``status`` gave it.
    func addMetrics(of status: LinkStatus, to page: inout MetricsPage) {
        for state in LinkStatus.State.allCases {
            page.add(AgentMetrics.linkState, status.state == state, state.rawValue)
        }
        let counters = machine.counters
        page.add(AgentMetrics.offline, linkLog.offlineSeconds(now: context.now))
        page.add(AgentMetrics.attempts, counters.attempts)
        page.add(AgentMetrics.sessions, counters.sessions)
        page.add(AgentMetrics.refusals, counters.refusals)
        page.add(AgentMetrics.deadLinks, counters.deadLinks)
        page.add(AgentMetrics.batches, counters.batches)
        page.add(AgentMetrics.uploaded, counters.points)
        page.add(AgentMetrics.uploadedBytes, counters.bytes)
        page.add(AgentMetrics.refused, refused.count)
    }
}
