import Ingest
import TrackModel
import TrackWire

/// What a session hands over to the writer, and what its agent is told when it is stored.
enum Submission: Hashable {
    case upload(refusals: [PointRefusal])
    case points(id: UInt64, stored: Int, refusals: [PointRefusal])
    case alarms(id: UInt64, refusals: [AlarmRefusal])
    /// A live hint. Nobody is told what became of it.
    case hint
    /// Points whose sequences an earlier session stored as other points. The batch behind it is acknowledged.
    case rescued
}

/// The batches that a connection has handed over and that are not settled yet. When the window is full, the next frame
/// waits unread.
struct SessionWindow: Hashable {
    private struct Entry: Hashable {
        let submission: Submission
        /// Of the payload as received.
        let bytes: Int
    }

    private let limits: GatewayLimits
    /// By ticket.
    private var submissions: [UInt64: Entry] = [:]
    private var lastTicket: UInt64 = 0
    private var batches = 0
    private var bytes = 0

    init(limits: GatewayLimits) {
        self.limits = limits
    }

    var isOpen: Bool { batches < limits.windowBatches && bytes < limits.windowBytes }
    /// No batch is on its way to the store.
    var isEmpty: Bool { batches == 0 }

    /// Returns the ticket under which the batch is handed over. A live hint takes no room.
    mutating func submitted(_ submission: Submission, bytes count: Int) -> UInt64 {
        lastTicket += 1
        submissions[lastTicket] = Entry(submission: submission, bytes: count)
        if submission != .hint {
            batches += 1
            bytes += count
        }
        return lastTicket
    }

    /// Nil for a ticket that is not known.
    mutating func settled(_ ticket: UInt64) -> Submission? {
        guard let entry = submissions.removeValue(forKey: ticket) else { return nil }
        if entry.submission != .hint {
            batches -= 1
            bytes -= entry.bytes
        }
        return entry.submission
    }
}

/// Turns the ends of transactions into the fewest messages: acknowledgements in a row become one.
enum Acknowledgement {
    /// Most refused points of one UploadAck, so that it stays far below the longest frame.
    static let maximumRefusals = 1000

    /// The messages for these jobs in their order, up to the first failure, and that failure.
    static func messages(
        for jobs: [(submission: Submission, result: Result<UInt64, IngestFailure>)]
    ) -> (messages: [ServerFrame], failure: IngestFailure?) {
        var messages: [ServerFrame] = []
        var pending: UploadAck?
        func flush() {
            if let ack = pending { messages.append(ServerFrame(.uploadAck(ack))) }
            pending = nil
        }
        for (submission, result) in jobs where submission != .hint {
            let through: UInt64
            switch result {
            case .success(let stored): through = stored
            case .failure(let failure):
                flush()
                return (messages, failure)
            }
            switch submission {
            case .upload(let refusals):
                if let ack = pending, ack.refused.count + refusals.count > maximumRefusals { flush() }
                var ack = pending ?? UploadAck()
                ack.storedThrough = max(ack.storedThrough, through)
                ack.refused += refusals.map(RefusedPoint.init)
                pending = ack
            case .points(let id, let stored, let refusals):
                flush()
                messages.append(reply(id: id, stored: stored, refusals: refusals))
            case .alarms(let id, let refusals):
                flush()
                messages.append(alarms(id: id, refusals: refusals))
            case .hint, .rescued: break
            }
        }
        flush()
        return (messages, nil)
    }

    /// Nothing of the message was stored, and this is why.
    static func refusal(id: UInt64, error: String) -> ServerFrame {
        var reply = PointsReply()
        reply.id = id
        reply.error = error
        return ServerFrame(.pointsReply(reply))
    }

    static func alarms(id: UInt64, refusals: [AlarmRefusal]) -> ServerFrame {
        ServerFrame(.alarmUploadAck(AlarmUploadAck(id: id, refusals.map { (key: $0.key, reason: $0.reason) })))
    }

    static func reply(id: UInt64, stored: Int, refusals: [PointRefusal]) -> ServerFrame {
        var reply = PointsReply()
        reply.id = id
        reply.stored = UInt32(clamping: stored)
        reply.refused = refusals.map(RefusedPoint.init)
        return ServerFrame(.pointsReply(reply))
    }
}

extension RefusedPoint {
    fileprivate init(_ refusal: PointRefusal) {
        self.init()
        sequence = refusal.number
        reason = refusal.reason
        wrongDate = refusal.isAhead
    }
}

/// A frame with points on its way from the decoder to the writer. Meanwhile no other frame is read.
enum FrameIntake: Hashable {
    enum Frame: Hashable {
        case upload(Upload)
        case points(Points)
        case alarms(AlarmUpload)

        /// The size that the sender claims: the frame is not decoded before there is memory for it.
        var payloadBytes: Int {
            switch self {
            case .upload(let upload): upload.payload.count
            case .points(let points): points.payload.count
            case .alarms(let upload):
                upload.alarms.reduce(0) { $0 + $1.json.utf8.count + $1.remoteTo.reduce(0) { $0 + $1.utf8.count } }
            }
        }

        /// Memory until it is stored, bytes.
        func cost(batchPoints: Int) -> Int {
            let claimed =
                switch self {
                case .upload(let upload): Int(upload.count)
                case .points(let points): Int(points.count)
                case .alarms(let upload): upload.alarms.count
                }
            return IngestJob.cost(payloadBytes: payloadBytes, points: min(claimed, batchPoints))
        }
    }

    case free
    /// It waits for a claim, for batches before it, or for memory.
    case held(Frame)
    /// Memory was asked for.
    case asking(Frame, cost: Int)
    /// An earlier session stored these sequences up to a number; the store is being asked whether as these points.
    case verifying(CheckedBatch, payloadBytes: Int, cost: Int, through: UInt64)
}

/// The live hints of a session: one is with the writer at a time, and the newest of the others waits.
struct PendingHints: Hashable {
    private enum State: Hashable {
        case none
        /// Memory was asked for.
        case asking(TrackPoint)
        case storing(waiting: TrackPoint?)
    }

    private var state = State.none

    /// A point that may be stored.
    mutating func arrived(_ point: TrackPoint) -> [SessionMachine.Action] {
        switch state {
        case .none:
            state = .asking(point)
            return [.reserve(.hint, cost: IngestJob.cost(payloadBytes: 0, points: 1))]
        case .asking: state = .asking(point)
        case .storing: state = .storing(waiting: point)
        }
        return []
    }

    /// The point to hand over, if the writer has memory for it. With the store behind there will be another point soon;
    /// uploads go first.
    mutating func reserved(isGranted: Bool) -> TrackPoint? {
        guard case .asking(let point) = state else { return nil }
        state = isGranted ? .storing(waiting: nil) : .none
        return isGranted ? point : nil
    }

    /// The writer is done with the hint; its outcome does not matter. Returns the point that came meanwhile.
    mutating func settled() -> TrackPoint? {
        guard case .storing(let waiting) = state else { return nil }
        state = .none
        return waiting
    }
}
