internal import AgentControl
internal import AgentLogic
internal import JSON
internal import Logging
internal import NIOCore
internal import TrackModel
internal import TrackWire
internal import Varlink

/// Custom attributes: the values that programs on the vehicle set, and the programs that are asked at each point.
///
/// Owns the `AttributeTable`, the `AttributeCollector` and the providers' calls. May touch: the loop's clock, one timer,
/// the journal. Everything else leaves as an ``Effect``.
final class AttributeShell {
    enum Effect {
        /// A point has its attributes: give it to the cache.
        case ready(TrackPoint, entity: String)
        /// A login told the service's track columns: remember them.
        case columnsLearned([AttributeColumn])
    }

    /// A provider's call that waits for the next point.
    private struct Call {
        let process: Int32
        /// Nil while the provider makes its answer.
        var waiting: EventLoopPromise<ProvideAttributesReply>?
        /// What the next reply to the provider says of the attributes that the provider gave.
        var isLate = false
        var ignored: [IgnoredAttribute] = []
    }

    private enum TimerKey { case timeout }

    private let context: ShellContext
    private let tell: (Effect) -> Void
    private let timers: ShellTimers<TimerKey>
    private var table: AttributeTable
    private var collector = AttributeCollector()
    private var providers: [AttributeCollector.ProviderID: Call] = [:]

    /// `columns`: the track columns that the last login told; nil when they are not known.
    init(_ context: ShellContext, columns: [AttributeColumn]?, tell: @escaping (Effect) -> Void) {
        self.context = context
        self.tell = tell
        timers = ShellTimers(context)
        table = AttributeTable(columns: columns)
    }

    // MARK: Points

    /// A point was gathered. It comes back as ``Effect/ready(_:entity:)``, at the latest when the next one is gathered.
    func gathered(_ point: TrackPoint, entity: String) {
        perform(collector.gathered(point, entity: entity))
    }

    /// Lets the point that waits for its providers go at once.
    func flush() { perform(collector.flush()) }

    private func perform(_ actions: [AttributeCollector.Action]) {
        for action in actions {
            switch action {
            case .ask(let id, let request, let time): ask(id, request: request, time: time)
            case .release(var point, let entity, let provided):
                point.attributes = table.attributes(provided: provided, now: context.now)
                tell(.ready(point, entity: entity))
            case .setTimer(let milliseconds):
                timers.set(.timeout, milliseconds: milliseconds) { [self] in perform(collector.timerFired()) }
            case .cancelTimer: timers.cancel(.timeout)
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

    /// The floor on which the vehicle is. Providers are not asked: what they said at the last point counts.
    var floor: String? { table.floor(provided: collector.newest, now: context.now) }

    // MARK: Columns

    /// The login told the service's track columns.
    func learn(_ told: [TrackColumn]) {
        let dropped = table.learn(told.compactMap(AttributeColumn.init))
        if !dropped.isEmpty {
            context.log.warning(
                "Attributes are dropped, because they are no columns of the service or have another type",
                metadata: ["keys": "\(dropped.map(\.key).joined(separator: ", "))"])
        }
        tell(.columnsLearned(table.columnList ?? []))
    }

    /// The configuration names another service, whose columns are not known.
    func forgetColumns() { table.forgetColumns() }

    // MARK: Calls of the control socket

    /// Custom points as the server gets them, and their attributes that it does not show.
    func judge(_ points: [TrackPoint]) -> (points: [TrackPoint], ignored: [IgnoredValue]) {
        let (judged, ignored) = table.judge(points)
        return (judged, ignored.map(IgnoredValue.init))
    }

    func set(_ values: [String: JSONValue], ttl: TimeAmount?) -> SetAttributesReply {
        let (known, odd) = Self.read(values)
        let now = context.now
        let ignored = table.set(known, expires: ttl.map { now + $0.nanoseconds / 1_000_000 }, now: now)
        let refused = Set(ignored.map(\.key))
        return SetAttributesReply(
            taken: known.keys.filter { !refused.contains($0) }.sorted(),
            ignored: (ignored + odd).sorted { $0.key < $1.key }.map(IgnoredValue.init),
            judged: table.columns != nil)
    }

    func clear(keys: [String]?) -> ClearAttributesReply {
        ClearAttributesReply(cleared: table.clear(keys, now: context.now))
    }

    func report() -> AttributesReply {
        let now = context.now
        let set = table.values(now: now).map {
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
            // Sorting is stable. If a key has several values, the value that wins comes last.
            attributes: (set + provided).sorted { $0.key < $1.key },
            columns: table.columnList?.map { ColumnReport(key: $0.key, type: $0.type.rawValue) },
            providers: infos.map {
                ProviderReport(
                    process: Int64(providers[$0.id]?.process ?? 0), answered: Int64(clamping: $0.answered),
                    late: Int64(clamping: $0.late))
            })
    }

    var status: AttributesStatus {
        AttributesStatus(
            set: Int64(table.values(now: context.now).count), providers: Int64(collector.providerCount),
            columns: table.columns.map { Int64($0.count) })
    }

    // MARK: Providers

    func provide(
        _ answer: ProvidedAttributes?, from connection: VarlinkClientConnection, process: Int32
    ) -> EventLoopFuture<ProvideAttributesReply> {
        let id = AttributeCollector.ProviderID(rawValue: connection.number)
        var given: (request: Int64, values: [String: AttributeValue])?
        var ignored: [IgnoredAttribute] = []
        if let answer {
            let (known, odd) = Self.read(answer.attributes)
            let judged = table.judge(known)
            given = (answer.request, judged.taken)
            ignored = (judged.ignored + odd).sorted { $0.key < $1.key }
        }
        let (reception, actions) = collector.called(id, answer: given, now: context.now)
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
            providers[id] = Call(process: process)
            connection.closed.assumeIsolated().whenComplete { [self] _ in providerGone(id) }
        }
        let promise = context.loop.makePromise(of: ProvideAttributesReply.self)
        providers[id]?.waiting = promise
        providers[id]?.isLate = reception == .late
        providers[id]?.ignored = ignored
        return promise.futureResult
    }

    private func refuse(_ reason: String, _ parameter: String? = nil) -> EventLoopFuture<ProvideAttributesReply> {
        context.loop.makeFailedFuture(
            AgentControlError(.parameterError, in: .provideAttributes, reason: reason, parameter: parameter))
    }

    private func providerGone(_ id: AttributeCollector.ProviderID) {
        let call = providers.removeValue(forKey: id)
        perform(collector.gone(id))
        call?.waiting?.fail(Self.providerEnds)
    }

    /// The agent stops: the point that waits goes, and the providers' calls are answered.
    func shutDown() {
        flush()
        for call in providers.values { call.waiting?.fail(Self.providerEnds) }
        providers = [:]
        timers.cancelAll()
    }

    private static let providerEnds = AgentControlError(
        .internalError, in: .provideAttributes, reason: "the agent stops, or the connection is closed: call again")

    /// The values that a column can take, and the values that no column can take.
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
