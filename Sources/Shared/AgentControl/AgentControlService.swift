import JSON
package import LocalSocket
package import NIOCore
import TrackModel
package import Varlink

/// Serves `io.saker.Agent`: reads parameters, asks the policy, calls the handler, turns its results into replies.
///
/// Confined to the server's event loop, as the handler is.
package final class AgentControlService: VarlinkInterface {
    package let name = AgentInterface.name
    package let interfaceDescription = AgentInterface.description
    package let methods = Set(AgentMethod.allCases.map(\.rawValue))

    let handler: any AgentControlHandler
    private let policy: ControlPolicy
    private let whenAllowed: ((AgentMethod, PeerCredentials) -> Void)?
    private let whenFailed: ((AgentMethod, _ reason: String) -> Void)?
    private let monitors = MonitorStreams()

    /// The journal needs both. `whenAllowed` gets each changing call that the policy allows, before the handler gets it.
    /// `whenFailed` gets each call that is answered with `InternalError`, with what the client is not told.
    package init(
        handler: any AgentControlHandler, policy: ControlPolicy,
        whenAllowed: ((AgentMethod, PeerCredentials) -> Void)? = nil,
        whenFailed: ((AgentMethod, _ reason: String) -> Void)? = nil
    ) {
        self.handler = handler
        self.policy = policy
        self.whenAllowed = whenAllowed
        self.whenFailed = whenFailed
    }

    /// Sends an event to every `Monitor` client. One that reads too slowly gets the error `TooSlow` and nothing more.
    package func publish(_ event: AgentEvent) {
        do {
            try monitors.publish(event)
        } catch {
            monitors.end(with: varlinkError(error, in: .monitor))
        }
    }

    /// The number of `Monitor` clients. When it is 0, the agent need not make events.
    package var monitorCount: Int { monitors.count }

    package func answer(_ call: VarlinkCall, on loop: any EventLoop) -> VarlinkAnswer {
        guard let method = AgentMethod(rawValue: call.method) else {
            return .failure(.methodNotFound("\(name).\(call.method)"), on: loop)
        }
        do {
            if !method.onlyReads {
                try authorize(call, method)
            }
            if method == .provideAttributes { return try provide(call) }
            return try answer(method, CallParameters(call.parameters), on: loop)
        } catch {
            return .failure(varlinkError(error, in: method), on: loop)
        }
    }

    private func authorize(_ call: VarlinkCall, _ method: AgentMethod) throws(AgentControlError) {
        let peer = call.peer
        guard policy.mayChange(peer) else {
            throw AgentControlError(
                .notAuthorized, in: method,
                reason: "user \(peer.user) may read and not change the agent: call it as root"
                    + (policy.group.map { " or as a member of group \($0)" } ?? ""))
        }
        // A provider calls again for each point. Only its first call is told.
        if method == .provideAttributes, call.parameters["request"] != nil { return }
        whenAllowed?(method, peer)
    }

    private func provide(_ call: VarlinkCall) throws -> VarlinkAnswer {
        var parameters = CallParameters(call.parameters)
        let request = try parameters.integer("request")
        let attributes = try parameters.object("attributes")
        try parameters.finish()
        guard let connection = call.connection else {
            throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
        }
        var answer: ProvidedAttributes?
        switch (request, attributes) {
        case (nil, nil): break
        case (let request?, let attributes?):
            try check(attributes, .provideAttributes)
            answer = ProvidedAttributes(request: request, attributes: attributes)
        case (nil, .some), (.some, nil):
            throw AgentControlError(
                .parameterError, in: .provideAttributes,
                reason: "give 'request' and 'attributes' together, or neither to begin", parameter: "request")
        }
        return reply(
            handler.provideAttributes(answer, from: connection, process: call.peer.process), .provideAttributes)
    }

    func monitor(_ stream: VarlinkReplyStream) {
        let status = handler.status()
        if let failure = monitors.add(stream, first: AgentEvent(time: status.time, .status(status))) {
            return stream.fail(varlinkError(failure, in: .monitor))
        }
        // A client that closes its connection frees its place at once.
        stream.whenClosed { [weak self] in self?.monitors.remove(stream) }
    }

    // MARK: - Replies

    func reply(_ future: EventLoopFuture<some Encodable & Sendable>, _ method: AgentMethod) -> VarlinkAnswer {
        .reply(
            future.assumeIsolated().flatMapThrowing { try JSONValue(encoding: $0) }
                .flatMapErrorThrowing { [self] in throw varlinkError($0, in: method) }.nonisolated())
    }

    /// The error as the client is told.
    func varlinkError(_ error: any Error, in method: AgentMethod) -> VarlinkError {
        switch error {
        case let error as VarlinkError: return error
        case let error as AgentControlError:
            if error.code == .internalError { whenFailed?(method, error.reason) }
            return error.varlinkError
        // The text of such an error was not written for a client.
        default:
            whenFailed?(method, "\(error)")
            return AgentControlError(
                .internalError, in: method,
                reason: "the agent failed at \(method.rawValue): its journal says more (journalctl -u sakerd)"
            ).varlinkError
        }
    }

    // MARK: - Values with rules of their own

    func check(_ entity: String?, _ method: AgentMethod) throws(AgentControlError) {
        guard let entity, let problem = EntityName.problem(with: entity) else { return }
        throw AgentControlError(.parameterError, in: method, reason: problem, parameter: "entity")
    }

    /// Seconds where milliseconds belong would choose everything, or nothing.
    func check(from: Int64?, through: Int64?, _ method: AgentMethod) throws(AgentControlError) {
        for (name, time) in [("from", from), ("through", through)] {
            guard let time, let problem = TimeRule.problem(withBound: time) else { continue }
            throw AgentControlError(
                .parameterError, in: method, reason: "'\(name)' \(time) \(problem)", parameter: name)
        }
    }

    func check(_ selection: CacheSelection) throws(AgentControlError) {
        try check(from: selection.from, through: selection.through, .clearCache)
        if let from = selection.from, let through = selection.through, from > through {
            throw AgentControlError(
                .parameterError, in: .clearCache,
                reason: "'from' (\(from)) lies after 'through' (\(through)): exchange them", parameter: "from")
        }
    }

    func check(_ attributes: [String: JSONValue], _ method: AgentMethod) throws(AgentControlError) {
        guard attributes.count <= 256 else {
            throw AgentControlError(
                .parameterError, in: method,
                reason: "\(attributes.count) attributes are too many for one call: give at most 256",
                parameter: "attributes")
        }
    }

    static func ttl(_ seconds: Double?) throws(AgentControlError) -> TimeAmount? {
        guard let seconds else { return nil }
        guard (0.001...31_536_000).contains(seconds) else {
            throw AgentControlError(
                .parameterError, in: .setAttributes,
                reason: "a ttl of \(seconds) s is out of range: give 0.001 to 31536000 (a year), or none for no limit",
                parameter: "ttl")
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    static func timeout(_ seconds: Double?) throws(AgentControlError) -> TimeAmount? {
        guard let seconds else { return nil }
        guard (0...3600).contains(seconds) else {
            throw AgentControlError(
                .parameterError, in: .stopService,
                reason: "a timeout of \(seconds) s is out of range: give 0 to 3600", parameter: "timeout")
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    static func cause(_ text: String?, _ method: AgentMethod) throws(AgentControlError) -> StopCause {
        guard let text else { return .person }
        guard let cause = StopCause.callers.first(where: { $0.rawValue == text }) else {
            let names = StopCause.callers.map(\.rawValue).joined(separator: " or ")
            throw AgentControlError(
                .parameterError, in: method, reason: "'\(text)' is not known: give \(names)", parameter: "by")
        }
        return cause
    }

    static func limit(_ bytes: Int64?, _ unlimited: Bool) throws(AgentControlError) -> CacheLimit {
        switch (bytes, unlimited) {
        case (let bytes?, false): return .bytes(bytes)
        case (nil, true): return .unlimited
        case (nil, false), (.some, true):
            throw AgentControlError(
                .parameterError, in: .setCacheLimit, reason: "give either 'bytes' or 'unlimited': true",
                parameter: "bytes")
        }
    }
}

// What goes through the agent to the server.
extension AgentControlService {
    func addPoints(_ parameters: inout CallParameters) throws -> EventLoopFuture<AddPointsReply> {
        let entity = try parameters.string("entity")
        let given = try parameters.requiredArray("points")
        try parameters.finish()
        try check(entity, .addPoints)
        return handler.addPoints(try CustomPoint.points(given), entity: entity)
    }

    /// The answer may be long. It is passed on as it came: nothing encodes and decodes it again.
    func call(_ parameters: inout CallParameters) throws -> VarlinkAnswer {
        let path = try parameters.requiredString("path")
        let arguments = try parameters.dictionary("parameters") ?? [:]
        try parameters.finish()
        guard !path.isEmpty else {
            throw AgentControlError(
                .parameterError, in: .call, reason: "'path' is empty: give one such as track/getlatestpoint",
                parameter: "path")
        }
        return .reply(
            handler.call(path: path, parameters: arguments).assumeIsolated().map(\.json)
                .flatMapErrorThrowing { [self] in throw varlinkError($0, in: .call) }.nonisolated())
    }
}

// Alarms and messages.
extension AgentControlService {
    func listAlarms(_ parameters: inout CallParameters) throws -> EventLoopFuture<AlarmsReply> {
        let selection = AlarmSelection(
            after: try parameters.integer("after"), from: try parameters.integer("from"),
            through: try parameters.integer("through"), type: try parameters.integer("type"),
            entity: try parameters.string("entity"), fences: try parameters.integers("fences"),
            actions: try parameters.strings("actions").map { try Self.actions($0) },
            limit: try parameters.integer("limit") ?? AlarmSelection().limit)
        try parameters.finish()
        try check(selection)
        try check(selection.entity, .listAlarms)
        try checkFences(selection.fences ?? [], "fences", .listAlarms)
        return handler.alarms(selection)
    }

    private static func actions(_ names: [String]) throws(AgentControlError) -> [AlarmSelection.Action] {
        var actions: [AlarmSelection.Action] = []
        for name in names {
            guard let action = AlarmSelection.Action(rawValue: name) else {
                throw AgentControlError(
                    .parameterError, in: .listAlarms,
                    reason: "there is no action '\(name.prefix(64))': give enter, exit, stay or overspeed",
                    parameter: "actions")
            }
            actions.append(action)
        }
        return actions
    }

    private func check(_ selection: AlarmSelection) throws(AgentControlError) {
        try check(from: selection.from, through: selection.through, .listAlarms)
        let problem: (reason: String, parameter: String)?
        if !(1...AlarmSelection.maximumCount).contains(selection.limit) {
            problem = (
                "a limit of \(selection.limit) is out of range: give 1 to \(AlarmSelection.maximumCount)", "limit"
            )
        } else if let type = selection.type, !(1...255).contains(type) {
            problem = ("there is no type \(type): give 1 to 255", "type")
        } else if let after = selection.after, after < 0 {
            problem = ("'after' is \(after): give the number of an alarm, or 0", "after")
        } else if let from = selection.from, let through = selection.through, from > through {
            problem = ("'from' (\(from)) lies after 'through' (\(through)): exchange them", "from")
        } else {
            problem = nil
        }
        guard let problem else { return }
        throw AgentControlError(
            .parameterError, in: .listAlarms, reason: problem.reason, parameter: problem.parameter)
    }
}

/// Decides who may change the agent. The mode of the socket file decides who may read.
package struct ControlPolicy: Hashable, Sendable {
    /// Members of this group may change the agent. When it is nil, only root and the agent's own user may.
    package var group: UInt32?
    /// The agent's own user. This user can change everything by other means anyway.
    package var user: UInt32?

    package init(group: UInt32?, user: UInt32? = nil) {
        self.group = group
        self.user = user
    }

    package func mayChange(_ peer: PeerCredentials) -> Bool {
        if peer.user == 0 || peer.user == user { return true }
        return group.map(peer.isMember(of:)) ?? false
    }
}
