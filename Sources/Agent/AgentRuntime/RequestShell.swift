internal import AgentControl
internal import AgentLogic
internal import JSON
internal import NIOCore
internal import TrackModel
internal import TrackWire

/// Requests that go through the agent to the server: custom points (`AddPoints`) and the Web API (`Call`).
///
/// Owns the `RequestQueue` and the requests that wait for their answers. May touch: the loop's clock and one timer.
/// Everything else leaves as an ``Effect``.
final class RequestShell {
    enum Effect {
        /// Write a frame on the link.
        case send([UInt8])
        /// An answer is overdue: find out whether the link is dead.
        case probeLink
    }

    /// What the link allows when a request is made.
    struct SessionParameters {
        /// The entity that points without an entity belong to.
        let entity: String
        let limits: UplinkLimits
    }

    private struct Open {
        /// Empty once it was sent.
        var frame: [UInt8]
        let method: AgentMethod
        let answer: (ServerFrame.OneOf_Message) -> Void
        let fail: (AgentControlError) -> Void
    }

    private enum TimerKey { case deadline }

    private let context: ShellContext
    private let tell: (Effect) -> Void
    private let timers: ShellTimers<TimerKey>
    private var queue: RequestQueue
    private var open: [ServerRequestID: Open] = [:]
    private var link = LinkState.closed

    /// Bytes of one request of the Web API.
    private static let maximumCallBytes = 256 * 1024
    /// Bytes of an answer that the control socket can carry, with what is around it.
    private static let maximumAnswerBytes = (1 << 20) - 1024

    init(_ context: ShellContext, tell: @escaping (Effect) -> Void) {
        self.context = context
        self.tell = tell
        timers = ShellTimers(context)
        var limits = RequestQueue.Limits()
        limits.sentCalls = WireLimits.calls
        queue = RequestQueue(limits: limits)
    }

    // MARK: Calls of the control socket

    /// `ignored`: what the reply says of their attributes.
    func addPoints(
        _ points: [TrackPoint], entity: String?, ignored: [IgnoredValue] = [], _ terms: SessionParameters
    ) -> EventLoopFuture<AddPointsReply> {
        let limits = terms.limits
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
        let promise = context.loop.makePromise(of: AddPointsReply.self)
        request(.points, in: .addPoints, bytes: batch.bytes.count) { id in
            .points(Points(batch, id: id, entity: entity ?? terms.entity))
        } answer: { message in
            guard case .pointsReply(let reply) = message else { return }
            guard reply.error.isEmpty else {
                return promise.fail(
                    AgentControlError(.parameterError, in: .addPoints, reason: "the server refused: \(reply.error)"))
            }
            let refused = reply.refused.map {
                RefusedPointReply(index: Int64(clamping: $0.sequence), reason: $0.reason)
            }
            promise.succeed(AddPointsReply(stored: Int64(reply.stored), refused: refused, ignored: ignored))
        } fail: {
            promise.fail($0)
        }
        return promise.futureResult
    }

    func call(path: String, parameters: [String: String]) -> EventLoopFuture<WebAPIReply> {
        let bytes = parameters.reduce(path.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count + 16 }
        guard bytes <= Self.maximumCallBytes else {
            return refuse(.call, "a request of \(bytes) bytes: at most \(Self.maximumCallBytes) can be sent")
        }
        // The server would end the connection.
        if let name = parameters.keys.first(where: { $0.utf8.count > WireLimits.parameterNameBytes }) {
            return refuse(
                .call,
                "a parameter's name has \(name.utf8.count) bytes, and \(WireLimits.parameterNameBytes) are the most")
        }
        let promise = context.loop.makePromise(of: WebAPIReply.self)
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
        context.loop.makeFailedFuture(AgentControlError(.parameterError, in: method, reason: reason))
    }

    private static func reply(_ reply: CallReply) throws(AgentControlError) -> WebAPIReply {
        let bytes = Array(reply.json.utf8)
        guard bytes.count <= maximumAnswerBytes else {
            throw tooLong("it has \(bytes.count) bytes, at most \(maximumAnswerBytes) are passed on")
        }
        do {
            // The reply around the answer adds a value or two, and the client counts those too.
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

    // MARK: Events

    /// A reply has come. A reply that nobody waits for any more is ignored.
    func answered(_ number: UInt64, _ kind: RequestQueue.Kind, _ message: ServerFrame.OneOf_Message) {
        let id = ServerRequestID(rawValue: number)
        guard let actions = queue.answered(id, kind, now: context.now) else { return }
        let request = open.removeValue(forKey: id)
        // The queue's actions come first: whoever hears the answer may ask for the next thing at once.
        perform(actions)
        request?.answer(message)
    }

    /// The state of the link changed.
    func linkChanged(_ state: LinkState) {
        link = state
        switch state {
        case .online: perform(queue.linkUp(now: context.now))
        case .closing: perform(queue.linkCloses(now: context.now))
        case .closed, .connecting, .handshaking, .loggingIn, .waiting, .refused:
            perform(queue.linkDown(now: context.now))
        }
    }

    func shutDown() { timers.cancelAll() }

    // MARK: The queue

    private func request(
        _ kind: RequestQueue.Kind, in method: AgentMethod, bytes: Int,
        frame: (UInt64) -> ClientFrame.OneOf_Message, answer: @escaping (ServerFrame.OneOf_Message) -> Void,
        fail: @escaping (AgentControlError) -> Void
    ) {
        let (id, actions) = queue.add(kind, bytes: bytes, now: context.now)
        let encoded = WireCodec.encode(ClientFrame(frame(id.rawValue)))
        open[id] = Open(frame: encoded, method: method, answer: answer, fail: fail)
        perform(actions)
    }

    private func perform(_ actions: [RequestQueue.Action]) {
        for action in actions {
            switch action {
            case .send(let id):
                guard let request = open[id] else { continue }
                open[id]?.frame = []
                tell(.send(request.frame))
            case .fail(let id, let failure):
                guard let request = open.removeValue(forKey: id) else { continue }
                request.fail(RequestFailure(failure, in: request.method, link: link).error)
            case .setTimer(let milliseconds):
                timers.set(.deadline, milliseconds: milliseconds) { [self] in
                    perform(queue.timerFired(now: context.now))
                }
            case .cancelTimer: timers.cancel(.deadline)
            case .probeLink: tell(.probeLink)
            }
        }
    }
}

/// What the caller of a request is told when the request ends without an answer.
struct RequestFailure {
    private let failure: RequestQueue.Failure
    private let method: AgentMethod
    private let link: LinkState

    init(_ failure: RequestQueue.Failure, in method: AgentMethod, link: LinkState) {
        self.failure = failure
        self.method = method
        self.link = link
    }

    var error: AgentControlError {
        switch failure {
        case .offline: offline
        case .full:
            AgentControlError(
                .busy, in: method, reason: "too many requests wait for the server already: nothing was sent, try again")
        case .notSent:
            AgentControlError(
                .busy, in: method,
                reason: "earlier requests are still waiting for the server: nothing was sent, try again")
        case .cut: unknown("the connection to the server was lost before the answer came")
        case .overdue: unknown("the server has not answered in time")
        }
    }

    private func unknown(_ what: String) -> AgentControlError {
        let advice =
            method == .addPoints
            ? "it is not known whether the points are stored; sending them again is safe, because a point of the same "
                + "entity and time replaces the earlier one"
            : "if it changes something, it is not known whether that was done: ask for it before sending it again"
        return AgentControlError(.outcomeUnknown, in: method, reason: "\(what): \(advice)")
    }

    private var offline: AgentControlError {
        let nothing = "nothing was sent"
        switch link {
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
