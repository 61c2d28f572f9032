package import AgentControl
internal import AgentLogic
internal import JSON
internal import Logging
package import NIOCore
package import TrackModel
internal import TrackWire

/// Requests to the server with their bytes, and who waits for their answers.
struct ServerRequests {
    struct Open {
        /// Empty once it was sent.
        var frame: [UInt8]
        let method: AgentMethod
        let answer: (ServerFrame.OneOf_Message) -> Void
        let fail: (AgentControlError) -> Void
    }

    var book: RequestBook
    var open: [ServerRequestID: Open] = [:]

    init() {
        var limits = RequestBook.Limits()
        limits.sentCalls = WireLimits.calls
        book = RequestBook(limits: limits)
    }
}

// Requests that go through the agent to the server: custom points, and those of the Web API.
extension Agent {
    /// Bytes of one request of the Web API.
    private static let maximumCallBytes = 256 * 1024
    /// Bytes of an answer that the control socket can carry, with what is around it.
    private static let maximumAnswerBytes = (1 << 20) - 1024

    package func addPoints(_ points: [TrackPoint], entity: String?) -> EventLoopFuture<AddPointsReply> {
        let promise = loop.makePromise(of: AddPointsReply.self)
        let limits = uplink.limits ?? UplinkLimits()
        let keys = points.reduce(into: Set<String>()) { $0.formUnion($1.attributes.keys) }
        guard points.count <= limits.batchPoints else {
            return refuse(.addPoints, "\(points.count) points: the server takes \(limits.batchPoints) at a time")
        }
        guard keys.count * points.count <= WireLimits.payloadValues else {
            return refuse(.addPoints, "\(keys.count) attributes in \(points.count) points: send fewer at a time")
        }
        let batch = BatchCodec.encode(points)
        guard batch.bytes.count <= limits.windowBytes else {
            return refuse(
                .addPoints,
                "the points take \(batch.bytes.count) bytes, at most \(limits.windowBytes) go at a time: send fewer")
        }
        request(.points, in: .addPoints, bytes: batch.bytes.count) { id in
            .points(Points(batch, id: id, entity: entity ?? uplinkEntity))
        } answer: { message in
            guard case .pointsReply(let reply) = message else { return }
            guard reply.error.isEmpty else {
                return promise.fail(
                    AgentControlError(.parameterError, in: .addPoints, reason: "the server refused: \(reply.error)"))
            }
            let refused = reply.refused.map {
                RefusedPointReply(index: Int64(clamping: $0.sequence), reason: $0.reason)
            }
            promise.succeed(AddPointsReply(stored: Int64(reply.stored), refused: refused))
        } fail: {
            promise.fail($0)
        }
        return promise.futureResult
    }

    package func call(path: String, parameters: [String: String]) -> EventLoopFuture<WebAPIReply> {
        let promise = loop.makePromise(of: WebAPIReply.self)
        let bytes = parameters.reduce(path.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count + 16 }
        guard bytes <= Self.maximumCallBytes else {
            return refuse(.call, "a request of \(bytes) bytes: at most \(Self.maximumCallBytes) can be sent")
        }
        request(.call, in: .call, bytes: bytes) { id in
            var call = Call()
            call.id = id
            call.path = path
            call.parameters = parameters
            return .call(call)
        } answer: { message in
            guard case .callReply(let reply) = message else { return }
            do throws(AgentControlError) {
                promise.succeed(try Self.reply(reply))
            } catch {
                promise.fail(error)
            }
        } fail: {
            promise.fail($0)
        }
        return promise.futureResult
    }

    private func refuse<Reply: Sendable>(_ method: AgentMethod, _ reason: String) -> EventLoopFuture<Reply> {
        loop.makeFailedFuture(AgentControlError(.parameterError, in: method, reason: reason))
    }

    private static func reply(_ reply: CallReply) throws(AgentControlError) -> WebAPIReply {
        let bytes = Array(reply.json.utf8)
        guard bytes.count <= maximumAnswerBytes else {
            throw tooLong("it has \(bytes.count) bytes, at most \(maximumAnswerBytes) are passed on")
        }
        do {
            // What the reply adds is a value or two, and the client counts them.
            let response = try JSONReader.value(of: bytes, JSONRules(maximumValues: JSONRules.values - 8))
            return WebAPIReply(status: Int64(reply.status), response: response)
        } catch let error where error.code == .tooManyValues {
            throw tooLong("it has \(error.detail)")
        } catch {
            throw AgentControlError(.internalError, in: .call, reason: "the server's answer is \(error)")
        }
    }

    private static func tooLong(_ measure: String) -> AgentControlError {
        AgentControlError(
            .parameterError, in: .call,
            reason: "the answer is too long: \(measure): ask for less, with page_size or a shorter time")
    }

    // MARK: The book

    private func request(
        _ kind: RequestBook.Kind, in method: AgentMethod, bytes: Int,
        frame: (UInt64) -> ClientFrame.OneOf_Message, answer: @escaping (ServerFrame.OneOf_Message) -> Void,
        fail: @escaping (AgentControlError) -> Void
    ) {
        let (id, actions) = requests.book.add(kind, bytes: bytes, now: now)
        let encoded = WireCodec.encode(ClientFrame(frame(id.rawValue)))
        requests.open[id] = ServerRequests.Open(frame: encoded, method: method, answer: answer, fail: fail)
        perform(actions)
    }

    func perform(_ actions: [RequestBook.Action]) {
        for action in actions {
            switch action {
            case .send(let id): sendRequest(id)
            case .fail(let id, let failure):
                guard let request = requests.open.removeValue(forKey: id) else { continue }
                request.fail(error(failure, in: request.method))
            case .setTimer(let milliseconds):
                setTimer(.requests, milliseconds: milliseconds) { agent in
                    agent.perform(agent.requests.book.timerFired(now: agent.now))
                }
            case .cancelTimer: cancelTimer(.requests)
            case .probeLink: perform(uplink.answerOverdue(now: now))
            }
        }
    }

    private func sendRequest(_ id: ServerRequestID) {
        guard let link, let request = requests.open[id] else { return }
        link.channel.writeAndFlush(ByteBuffer(bytes: request.frame), promise: nil)
        requests.open[id]?.frame = []
        uplink.frameSent(link.id, now: now)
    }

    /// A reply has come; one that nobody waits for any more is passed over.
    func answered(_ number: UInt64, _ kind: RequestBook.Kind, _ message: ServerFrame.OneOf_Message) {
        let id = ServerRequestID(rawValue: number)
        guard let actions = requests.book.answered(id, kind, now: now) else { return }
        let request = requests.open.removeValue(forKey: id)
        // First what the book decided: whoever hears the answer may ask for the next thing at once.
        perform(actions)
        request?.answer(message)
    }

    /// The link stands differently now.
    func requestsFollow(_ state: LinkState) {
        switch state {
        case .online: perform(requests.book.linkUp(now: now))
        case .closing: perform(requests.book.linkCloses(now: now))
        case .closed, .connecting, .handshaking, .loggingIn, .waiting, .refused:
            perform(requests.book.linkDown(now: now))
        }
    }

    private func error(_ failure: RequestBook.Failure, in method: AgentMethod) -> AgentControlError {
        switch failure {
        case .offline: offline(in: method)
        case .full:
            AgentControlError(
                .busy, in: method, reason: "too many requests wait for the server already: nothing was sent, try again")
        case .notSent:
            AgentControlError(
                .busy, in: method,
                reason: "earlier requests are still waiting for the server: nothing was sent, try again")
        case .cut: unknown("the connection to the server was lost before the answer came", in: method)
        case .overdue: unknown("the server has not answered in time", in: method)
        }
    }

    private func unknown(_ what: String, in method: AgentMethod) -> AgentControlError {
        let advice =
            method == .addPoints
            ? "it is not known whether the points are stored; sending them again is safe, because a point of the same "
                + "entity and time replaces the earlier one"
            : "if it changes something, it is not known whether that was done: ask for it before sending it again"
        return AgentControlError(.outcomeUnknown, in: method, reason: "\(what): \(advice)")
    }

    private func offline(in method: AgentMethod) -> AgentControlError {
        let nothing = "nothing was sent"
        switch linkWatch.state {
        case .closed, .closing:
            return AgentControlError(
                .serviceNotStarted, in: method,
                reason: "the service is not started, so there is no connection (saker service start): \(nothing)")
        case .refused(_, let trouble):
            return AgentControlError(
                .authenticationError, in: method, reason: "the server refused the login: \(trouble.reason); \(nothing)")
        case .waiting(_, let trouble):
            return AgentControlError(
                .networkError, in: method, reason: "the server cannot be reached: \(trouble.reason); \(nothing)")
        case .connecting, .handshaking, .loggingIn, .online:
            return AgentControlError(
                .networkError, in: method, reason: "the connection to the server is just being made; \(nothing)")
        }
    }
}
