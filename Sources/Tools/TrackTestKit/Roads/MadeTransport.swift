package import RoadMatching
import Synchronization

/// The way to an engine that a test makes, without a port.
package final class MadeTransport: RoadTransport {
    private let answer: @Sendable (Int, RoadRequest) throws(RoadFailure) -> RoadReply
    private let sent = Mutex<[RoadRequest]>([])

    /// Every request so far.
    package var requests: [RoadRequest] { sent.withLock { $0 } }

    /// `answer` gets the number of the request, from 0, and the request.
    package init(_ answer: @escaping @Sendable (Int, RoadRequest) throws(RoadFailure) -> RoadReply) {
        self.answer = answer
    }

    package convenience init(_ engine: MadeEngine = MadeEngine()) {
        self.init { _, request throws(RoadFailure) in engine.reply(to: request) }
    }

    package func exchange(_ request: RoadRequest, within patience: Int64) async throws(RoadFailure) -> RoadReply {
        let number = sent.withLock { sent in
            sent.append(request)
            return sent.count - 1
        }
        return try answer(number, request)
    }
}
