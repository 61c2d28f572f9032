import TrackStore
import TrackWire

/// What a connection has handed over and not yet been told about. Full means: its next frame waits unread.
struct SessionWindow {
    private let limits: GatewayLimits
    private var batches = 0
    private var bytes = 0
    private(set) var calls = 0

    init(limits: GatewayLimits) {
        self.limits = limits
    }

    var isOpen: Bool { batches < limits.windowBatches && bytes < limits.windowBytes && calls < limits.calls }
    /// Nothing waits for us.
    var isEmpty: Bool { batches == 0 && calls == 0 }

    mutating func submitted(bytes count: Int) {
        batches += 1
        bytes += count
    }

    mutating func settled(bytes count: Int) {
        batches -= 1
        bytes -= count
    }

    mutating func called() { calls += 1 }
    mutating func answered() { calls -= 1 }
}

/// Turns the ends of transactions into the fewest messages: acknowledgements in a row become one.
enum Acknowledgement {
    /// Most refused points of one UploadAck, so that it stays far below the longest frame.
    static let maximumRefusals = 1000

    /// The messages for these jobs in their order, up to the first failure, and that failure.
    static func messages(for jobs: [SettledJob]) -> (messages: [ServerFrame], failure: IngestFailure?) {
        var messages: [ServerFrame] = []
        var pending: UploadAck?
        func flush() {
            if let ack = pending { messages.append(ServerFrame(.uploadAck(ack))) }
            pending = nil
        }
        for job in jobs where job.ticket != .hint {
            let outcome: UInt64
            switch job.result {
            case .failure(let failure):
                flush()
                return (messages, failure)
            case .success(.stored(let through)), .success(.duplicate(let through)): outcome = through
            case .success(.failed):
                flush()
                return (messages, .failed)
            }
            switch job.ticket {
            case .upload(let refusals):
                if let ack = pending, ack.refused.count + refusals.count > maximumRefusals { flush() }
                var ack = pending ?? UploadAck()
                ack.storedThrough = max(ack.storedThrough, outcome)
                ack.refused += refusals.map(RefusedPoint.init)
                pending = ack
            case .points(let id, let stored, let refusals):
                flush()
                messages.append(reply(id: id, stored: stored, refusals: refusals))
            case .hint: break
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
    }
}
