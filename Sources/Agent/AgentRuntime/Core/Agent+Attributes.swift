package import AgentControl
internal import AgentLogic
package import JSON
internal import Logging
package import NIOCore
internal import TrackModel
internal import TrackWire
package import Varlink

/// A provider's call that waits for the next point.
struct ProviderCall {
    let process: Int32
    /// Nil while the provider makes its answer.
    var waiting: EventLoopPromise<ProvideAttributesReply>?
    /// What its next reply says of the attributes that it gave.
    var isLate = false
    var ignored: [IgnoredAttribute] = []
}

// Custom attributes: from programs on the box to the points.
extension Agent {
    // MARK: Points

    func perform(_ actions: [AttributeCollector.Action]) {
        for action in actions {
            switch action {
            case .ask(let id, let request, let time): ask(id, request: request, time: time)
            case .release(var point, let entity, let provided):
                point.attributes = board.attributes(provided: provided, now: now)
                append(point, entity: entity)
            case .setTimer(let milliseconds):
                setTimer(.providers, milliseconds: milliseconds) { agent in
                    agent.perform(agent.collector.timerFired())
                }
            case .cancelTimer: cancelTimer(.providers)
            }
        }
    }

    private func ask(_ id: AttributeCollector.ProviderID, request: Int64, time: Timestamp) {
        guard let call = providers[id] else { return }
        providers[id]?.waiting = nil
        providers[id]?.isLate = false
        providers[id]?.ignored = []
        call.waiting?.succeed(
            ProvideAttributesReply(
                request: request, time: time.milliseconds, late: call.isLate,
                ignored: call.ignored.map(IgnoredValue.init)))
    }

    /// The login told the service's track columns.
    func learnColumns(_ told: [TrackColumn]) {
        let columns = told.compactMap(AttributeColumn.init)
        let dropped = board.learn(columns)
        if !dropped.isEmpty {
            log.warning(
                "Attributes dropped: they are no columns of the service, or of another type",
                metadata: ["keys": "\(dropped.map(\.key).joined(separator: ", "))"])
        }
        let new = RememberedState.Columns(board.columnList ?? [], of: configuration.service.id)
        guard remembered.columns != new else { return }
        remembered.columns = new
        remember()
    }

    // MARK: Control

    package func setAttributes(
        _ values: [String: JSONValue], ttl: TimeAmount?
    ) -> EventLoopFuture<SetAttributesReply> {
        let (known, odd) = Self.read(values)
        let expires = ttl.map { now + $0.nanoseconds / 1_000_000 }
        let ignored = board.set(known, expires: expires, now: now)
        let refused = Set(ignored.map(\.key))
        return loop.makeSucceededFuture(
            SetAttributesReply(
                taken: known.keys.filter { !refused.contains($0) }.sorted(),
                ignored: (ignored + odd).sorted { $0.key < $1.key }.map(IgnoredValue.init),
                judged: board.columns != nil))
    }

    package func clearAttributes(keys: [String]?) -> EventLoopFuture<ClearAttributesReply> {
        loop.makeSucceededFuture(ClearAttributesReply(cleared: board.clear(keys, now: now)))
    }

    package func attributes() -> AttributesReply {
        let now = now
        let set = board.values(now: now).map {
            AttributeReport(
                key: $0.key, value: JSONValue($0.value), source: .set, ttl: $0.remaining.map { Double($0) / 1000 })
        }
        let infos = collector.infos
        let provided = infos.flatMap { info in
            info.values.map { key, value in
                AttributeReport(
                    key: key, value: JSONValue(value), source: .provided,
                    age: info.answeredAt.map { Double(max(0, now - $0)) / 1000 })
            }
        }
        return AttributesReply(
            // Sorting is stable: of one key the value that wins comes last.
            attributes: (set + provided).sorted { $0.key < $1.key },
            columns: board.columnList?.map { ColumnReport(key: $0.key, type: $0.type.rawValue) },
            providers: infos.map {
                ProviderReport(
                    process: Int64(providers[$0.id]?.process ?? 0), answered: Int64(clamping: $0.answered),
                    late: Int64(clamping: $0.late))
            })
    }

    var attributesStatus: AttributesStatus {
        AttributesStatus(
            set: Int64(board.values(now: now).count), providers: Int64(collector.providerCount),
            columns: board.columns.map { Int64($0.count) })
    }

    package func provideAttributes(
        _ answer: ProvidedAttributes?, from connection: VarlinkClientConnection, process: Int32
    ) -> EventLoopFuture<ProvideAttributesReply> {
        let id = AttributeCollector.ProviderID(rawValue: connection.number)
        var given: (request: Int64, values: [String: AttributeValue])?
        var ignored: [IgnoredAttribute] = []
        if let answer {
            let (known, odd) = Self.read(answer.attributes)
            let judged = board.judge(known)
            given = (answer.request, judged.taken)
            ignored = (judged.ignored + odd).sorted { $0.key < $1.key }
        }
        let (reception, actions) = collector.called(id, answer: given, now: now)
        defer { perform(actions) }
        switch reception {
        case .full:
            return refuse("there are \(AttributeCollector.maximumProviders) providers already: end another one first")
        case .unknownRequest(let last):
            return refuse(
                "request \(answer?.request ?? 0) was not asked of this connection: answer "
                    + (last.map { "request \($0)" } ?? "what a reply asks, once, or call without parameters to begin"),
                "request")
        case .waiting, .taken, .late: break
        }
        if providers[id] == nil {
            providers[id] = ProviderCall(process: process)
            connection.closed.assumeIsolated().whenComplete { [self] _ in providerGone(id) }
        }
        let promise = loop.makePromise(of: ProvideAttributesReply.self)
        providers[id]?.waiting = promise
        providers[id]?.isLate = reception == .late
        providers[id]?.ignored = ignored
        return promise.futureResult
    }

    private func refuse(_ reason: String, _ parameter: String? = nil) -> EventLoopFuture<ProvideAttributesReply> {
        loop.makeFailedFuture(
            AgentControlError(.parameterError, in: .provideAttributes, reason: reason, parameter: parameter))
    }

    private func providerGone(_ id: AttributeCollector.ProviderID) {
        let call = providers.removeValue(forKey: id)
        perform(collector.gone(id))
        call?.waiting?.fail(Self.providerEnds)
    }

    /// The agent stops: calls that wait are answered.
    func dismissProviders() {
        for call in providers.values { call.waiting?.fail(Self.providerEnds) }
        providers = [:]
    }

    private static let providerEnds = AgentControlError(
        .internalError, in: .provideAttributes, reason: "the agent stops, or the connection is closed: call again")

    /// Values as they came, and those that no column can take.
    private static func read(
        _ values: [String: JSONValue]
    ) -> (known: [String: AttributeValue], odd: [IgnoredAttribute]) {
        var known: [String: AttributeValue] = [:]
        var odd: [IgnoredAttribute] = []
        for (key, value) in values {
            switch value {
            case .integer(let number): known[key] = .integer(number)
            case .double(let number): known[key] = .double(number)
            case .string(let text): known[key] = .string(text)
            case .null, .bool, .array, .object:
                odd.append(
                    IgnoredAttribute(
                        key, .wrongType, "\(value.kind) is no value: give an integer, a number or a string")
                )
            }
        }
        return (known, odd)
    }
}

extension AttributeColumn {
    /// Nil for a type that this program does not know.
    init?(_ told: TrackColumn) {
        let type: AttributeType
        switch told.type {
        case .integer: type = .integer
        case .double: type = .double
        case .string: type = .string
        case .unspecified, .UNRECOGNIZED: return nil
        }
        guard AttributeValue.problem(key: told.key, value: .integer(0)) == nil else { return nil }
        self.init(key: told.key, type: type)
    }
}

extension IgnoredValue {
    init(_ ignored: IgnoredAttribute) {
        self.init(key: ignored.key, reason: ignored.reason.rawValue, detail: ignored.detail)
    }
}

extension JSONValue {
    init(_ value: AttributeValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .string(text)
        }
    }
}
