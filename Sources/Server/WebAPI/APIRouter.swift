package import Ingest
package import Logging
package import RoadMatching
import Synchronization
package import TrackModel
package import TrackStore

/// Asks an operator's URL whether it takes the alarms of a service; returns why not, for the client.
package typealias CallbackChecking = @Sendable (CallbackTarget, ServiceID) async -> String?

/// Where the work for an asker runs; nil: where all tasks run.
package typealias WorkExecutors = @Sendable (WorkOwner) -> (any TaskExecutor)?

/// The Web API without a port: a request goes in, an answer comes out.
///
/// `WebListener` asks it for requests through HTTP, `Gateway` for calls through a device's connection. So both give the
/// same answers.
package struct APIRouter: Sendable {
    /// Bytes of a request's body.
    package static let maximumBodyBytes = 8 << 20
    private static let mostRefererBytes = 2048

    let store: any TrackStore
    private let ingest: IngestWriter
    let options: WebAPIOptions
    let log: RequestLog
    let now: @Sendable () -> Timestamp
    private let pages = PageCache()
    let tracks: TrackReadCache
    private let districts = DistrictCache()
    private let checkCallback: CallbackChecking
    private let roads: (any Roads)?
    let counters: APICounters
    /// Nil when the operator has set none.
    private let quotas: KeyQuotaTable?
    let changeLimiter = ChangeLimiter()
    private let executors: WorkExecutors

    /// Uploaded points go to `ingest`, which must run. `executors`: where the work for each asker runs. The clock says when the server received what a client sends.
    package init(
        store: any TrackStore, ingest: IngestWriter, options: WebAPIOptions, logger: Logger,
        counters: APICounters = APICounters(),
        checkCallback: @escaping CallbackChecking = { _, _ in "url: this server sends no alarms to URLs" },
        roads: (any Roads)? = nil, executors: @escaping WorkExecutors = { _ in nil },
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.executors = executors
        self.store = store
        self.ingest = ingest
        self.options = options
        log = RequestLog(logger, now: now)
        self.counters = counters
        self.checkCallback = checkCallback
        self.roads = roads
        self.now = now
        tracks = TrackReadCache(maximumBytes: options.analysis.keptBytes)
        let limits = KeyQuotas.Limits(daily: options.dailyQuota, concurrent: options.concurrentRequests)
        quotas = limits.isNone ? nil : KeyQuotaTable(KeyQuotas(limits, zoneMinutes: options.zoneMinutes))
    }

    // MARK: Through HTTP

    package func respond(to request: APIRequest) async -> APIResponse {
        // Whose key it is shows only when the request has been read.
        let arrival = await working(for: .address(request.address ?? "")) { await receive(request) }
        switch arrival {
        case .answered(let response): return response
        case .accepted(let accepted): return await working(for: .key(accepted.use)) { await answer(accepted) }
        }
    }

    /// Each step of the work has its turn among the work of others.
    private func working<Value: Sendable>(
        for owner: WorkOwner, _ work: @Sendable () async -> Value
    ) async -> Value {
        await WorkOwner.$current.withValue(owner) {
            await withTaskExecutorPreference(executors(owner)) { await work() }
        }
    }

    /// What a request has come to before its work begins.
    private enum Arrival: Sendable {
        case answered(APIResponse)
        case accepted(Accepted)
    }

    /// A request with a key that opens its call.
    private struct Accepted: Sendable {
        let endpoint: Endpoint
        let caller: Caller
        let use: AccessKeyUse
        let parameters: Parameters
        let origin: String?
        let callback: String?
    }

    private func receive(_ request: APIRequest) async -> Arrival {
        if request.method == "OPTIONS" { return .answered(Self.preflight(request)) }
        let target = RequestTarget(request.target)
        if let link = ExportLink(path: target.path) { return .answered(await download(link, request, target)) }
        var callback: String?
        do {
            // This comes first, because a page can read a refusal only when the refusal is wrapped, too.
            if request.method == "GET" { callback = try Self.callback(target) }
            guard let path = target.endpoint else { throw APIFailure(.unknownCall) }
            guard let endpoint = Endpoint.named[path] else { throw APIFailure(.unknownCall, path) }
            guard ["GET", "POST", "HEAD"].contains(request.method) else { throw APIFailure(.method) }
            guard request.body.count <= Self.maximumBodyBytes else { throw APIFailure(.bodyTooLarge) }
            let form = try RequestForm(request, query: target.query)
            if options.strictMethods, request.method != endpoint.method.rawValue { throw APIFailure(.method) }
            let caller = try await authenticate(form, target, request, for: endpoint.scope)
            let use = AccessKeyUse(service: caller.service, hash: AccessKey(form.parameters["ak"] ?? "").hash)
            return .accepted(
                Accepted(
                    endpoint: endpoint, caller: caller, use: use, parameters: form.parameters,
                    origin: options.publicOrigin ?? request.origin, callback: callback))
        } catch {
            let answer = Answer(APIFailure(error, of: target.endpoint ?? "", log: log))
            counters.answered(.http, target.endpoint, answer.status)
            var response = Self.response(answer, callback: callback)
            // The API has nothing at such an address: a wrong base address must not look like an answer.
            if !target.isOfAPI { response.httpStatus = 404 }
            return .answered(response)
        }
    }

    private func answer(_ request: Accepted) async -> APIResponse {
        var answer: Answer
        do {
            if let refusal = quotas?.begin(request.use, at: now()) { throw refusal }
            defer { quotas?.end(request.use) }
            try request.endpoint.beginChange(request.caller, changeLimiter, at: now())
            let call = try call(request.endpoint, request.caller, request.parameters, request.origin)
            answer = try await request.endpoint.read(call, store).answer()
        } catch {
            answer = Answer(APIFailure(error, of: request.endpoint.path, in: request.caller.service, log: log))
        }
        counters.answered(.http, request.endpoint.path, answer.status)
        var response = Self.response(answer, callback: request.callback)
        response.hasValidKey = true
        return response
    }

    /// Whether the query of a target names a key that opens its service and wants no signature: before the body is here.
    package func knowsKey(of target: String) async -> Bool {
        guard let pairs = try? FormEncoding.pairs(RequestTarget(target).query) else { return false }
        let parameters = Parameters(pairs.map { ($0.key, $0.value) })
        guard let key = parameters["ak"], let number = try? parameters.integer("service_id") else { return false }
        let records = try? await store.keys(matching: AccessKey(key).hash)
        let code = parameters["mcode"] ?? ""
        let scope = RequestTarget(target).endpoint.flatMap { Endpoint.named[$0] }?.scope ?? .write
        return records?.contains {
            $0.service.rawValue == number && !$0.isDisabled && !$0.rights.hasEnded(at: now()) && $0.secret == nil
                && $0.rights.scopes.opens(scope) && $0.accepts(appCode: code)
        } == true
    }

    /// The answer to a body that was too large to be read to its end.
    package func bodyTooLarge() -> APIResponse {
        counters.answered(.http, nil, .bodyTooLarge)
        return Self.response(Answer(APIFailure(.bodyTooLarge)), callback: nil)
    }

    // MARK: Through a device's connection

    /// A call by an agent that has logged in; the path is `track/gettrack` or the full one. Returns the answer's status
    /// and the whole answer.
    ///
    /// The session's entity stands in for a missing `entity_name`.
    package func call(
        service: ServiceID, entity: String, path: String, parameters: [String: String], policy: DevicePolicy
    ) async -> (status: Int, json: String) {
        await working(for: .vehicle(EntityKey(service: service, name: entity))) {
            await work(service, entity, path, parameters, policy)
        }
    }

    private func work(
        _ service: ServiceID, _ entity: String, _ path: String, _ parameters: [String: String], _ policy: DevicePolicy
    ) async -> (status: Int, json: String) {
        let target = RequestTarget(path)
        let name = target.endpoint ?? RequestTarget("/api/v3/\(path)").endpoint
        var answer: Answer
        do {
            guard let name, let endpoint = Endpoint.named[name] else { throw APIFailure(.unknownCall, path) }
            let caller = Caller(service: service, entity: entity, policy: policy)
            let pairs = parameters.map { (key: $0.key, value: $0.value) }
            let reading = try await endpoint.read(
                try call(endpoint, caller, Parameters(pairs), options.publicOrigin), store)
            if let problem = policy.problem(with: reading.subject, by: entity) {
                throw APIFailure(.notAllowed, problem)
            }
            try endpoint.beginChange(caller, changeLimiter, at: now())
            answer = try await reading.answer()
        } catch {
            answer = Answer(APIFailure(error, of: name ?? "", in: service, log: log))
        }
        counters.answered(.device, name, answer.status)
        return (answer.status.rawValue, String(decoding: answer.json, as: UTF8.self))
    }

    // MARK: Inside

    private func call(
        _ endpoint: Endpoint, _ caller: Caller, _ parameters: Parameters, _ origin: String?
    ) throws(APIFailure) -> APICall {
        APICall(
            path: endpoint.path, caller: caller, parameters: try endpoint.taken(of: parameters), ingest: ingest,
            options: options, pages: pages, tracks: tracks, districts: districts, checkCallback: checkCallback,
            roads: roads, changes: changeLimiter, now: now(), origin: origin, log: log, counters: counters)
    }

    /// A call without a client, of a job of a service. What it reads is not kept in memory: nobody asks for it again soon.
    func call(_ path: String, of service: ServiceID, at time: Timestamp) -> APICall {
        APICall(
            path: path, caller: Caller(service: service, entity: nil), parameters: Parameters(), ingest: ingest,
            options: options, pages: pages, tracks: TrackReadCache(maximumBytes: 0), districts: districts,
            checkCallback: checkCallback, roads: roads, changes: changeLimiter, now: time, origin: nil, log: log,
            counters: counters)
    }

    /// Whom the key of a request speaks for. `scope`: what the key must open. `service`: what the address says in place of
    /// `service_id`.
    func authenticate(
        _ form: RequestForm, _ target: RequestTarget, _ request: APIRequest, for scope: KeyScopes,
        service: ServiceID? = nil
    ) async throws -> Caller {
        let isPOST = request.method == "POST"
        try ParameterLengths.check(["ak", "service_id", "sn", "mcode"], of: form.parameters)
        guard let key = form.parameters["ak"] else { throw APIFailure(.keyMissing) }
        let records = try await store.keys(matching: AccessKey(key).hash)
        guard !records.isEmpty else {
            let isToken = try await store.isToken(AccessKey(key).hash)
            throw APIFailure(
                .keyUnknown,
                isToken
                    ? "ak is an enrolment token, which only claims the identity of a vehicle (saker enroll). Give an access key"
                    : "")
        }
        let number = try service?.rawValue ?? form.parameters.requiredInteger("service_id")
        guard let record = records.first(where: { $0.service.rawValue == number }) else {
            throw APIFailure(.unknownService)
        }
        guard !record.isDisabled else { throw APIFailure(.keyDisabled) }
        if record.rights.hasEnded(at: now()) { throw APIFailure(.keyDisabled, "the access key is past its end") }
        guard record.rights.admits(address: request.address) else {
            throw APIFailure(.address, "the access key may not be used from \(request.address ?? "an unknown address")")
        }
        // Scheme, host and path are within these bytes of what a browser sends.
        let page = request.referer.map { String(decoding: $0.utf8.prefix(Self.mostRefererBytes), as: UTF8.self) }
        guard record.rights.admits(referer: page) else {
            throw APIFailure(.referer, "the access key may not be used from this page")
        }
        if record.appCode != nil {
            guard let code = form.parameters["mcode"] else { throw APIFailure(.appCodeMissing) }
            guard record.accepts(appCode: code) else { throw APIFailure(.appCode) }
        }
        if let secret = record.secret {
            guard form.bodyBytes <= Signature.maximumBodyBytes else { throw APIFailure(.bodyTooLarge) }
            if let problem = form.problemWithCoverage(isPOST: isPOST) { throw APIFailure(.signature, problem) }
            guard let signature = form.parameters["sn"],
                Signature.verify(signature, of: form.signed(target, isPOST: isPOST), secret: secret)
            else { throw APIFailure(.signature) }
        }
        guard record.rights.scopes.opens(scope) else { throw APIFailure(.notAllowed, Self.refusal(of: scope, record)) }
        return Caller(service: record.service, entity: nil)
    }

    private static func refusal(of scope: KeyScopes, _ key: AccessKeyRecord) -> String {
        if key.rights.scopes == .legacyDevice {
            return
                "this access key is a vehicle's: it opens nothing of the Web API, so use a key of `saker-server key create`"
        }
        return "this access key may not \(scope.text): it was made for \(key.rights.scopes.text)"
    }

    /// A query that cannot be read as a whole may name one all the same: the page must be able to read the refusal. A page
    /// that cannot reads it as no answer, and some ask again without end.
    private static func callback(_ target: RequestTarget) throws(APIFailure) -> String? {
        guard target.isOfAPI, let name = FormEncoding.value(of: "callback", in: target.query) else { return nil }
        let allowed = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "_.$[]".utf8.contains(byte)
        }
        guard allowed, name.utf8.count <= 64 else {
            throw APIFailure(.parameter, "callback is 1...64 of A-Z a-z 0-9 _ . $ [ ]")
        }
        return name
    }

    static func response(_ answer: Answer, callback: String?) -> APIResponse {
        var body = answer.json
        // The comment keeps the answer from being read as another kind of file by its first bytes.
        if let callback { body = Array("/**/\(callback)(".utf8) + body + Array(")".utf8) }
        let type = callback == nil ? "application/json; charset=utf-8" : "application/javascript; charset=utf-8"
        return APIResponse(
            headers: [
                ("Content-Type", type), ("Access-Control-Allow-Origin", "*"), ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
            ], body: body)
    }

    /// Answers the question that a browser asks before a request to another origin.
    private static func preflight(_ request: APIRequest) -> APIResponse {
        APIResponse(
            httpStatus: 204,
            headers: [
                ("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
                ("Access-Control-Allow-Headers", allowedHeaders(request)), ("Access-Control-Max-Age", "86400"),
            ], body: [])
    }

    private static func allowedHeaders(_ request: APIRequest) -> String {
        guard let asked = request.requestedHeaders, asked.utf8.count <= 1024,
            asked.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { return "Content-Type" }
        return asked
    }
}

/// Counts the answers of the Web API for monitoring, by call and status and never by client.
package final class APICounters: Sendable {
    /// The way by which a request came.
    package enum Way: String, Hashable, Sendable {
        case http
        /// Through an agent's connection.
        case device
    }

    package struct Answer: Hashable, Sendable {
        package let way: Way
        /// As in `track/gettrack`; `unknown` for every call that there is not.
        package let call: String
        /// The API's status, not HTTP's.
        package let status: Int
    }

    private let state = Mutex<[Answer: UInt64]>([:])
    private let holes = Atomic<UInt64>(0)

    package init() {}

    package var answers: [Answer: UInt64] { state.withLock { $0 } }

    /// Readings of tracks that met points which the store cannot read.
    package var readingsWithHoles: UInt64 { holes.load(ordering: .relaxed) }

    func metHoles() { holes.wrappingAdd(1, ordering: .relaxed) }

    /// `call` is the text that the client wrote. Only names of the API are counted under their own name, so that the
    /// number of names stays small.
    func answered(_ way: Way, _ call: String?, _ status: APIStatus) {
        let known = call.flatMap { Endpoint.named[$0] == nil ? nil : $0 } ?? "unknown"
        state.withLock { $0[Answer(way: way, call: known, status: status.rawValue), default: 0] &+= 1 }
    }
}
