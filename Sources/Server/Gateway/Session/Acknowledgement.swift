import Ingest
import TrackWire

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
