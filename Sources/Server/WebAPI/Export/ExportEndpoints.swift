import JSON
import TrackModel
import TrackStore

/// The module `export`: files with the points of a whole service. The published service has the same calls as
/// `historysearch`.
///
/// An export is a way to read. So a key that may only write must not make one, and a key that may only read removes its jobs.
enum ExportEndpoints {
    static let all = ["export", "historysearch"].flatMap { [create($0), list($0), delete($0)] }

    private static func create(_ module: String) -> Endpoint {
        Endpoint("\(module)/createjob", .post, ["start_time", "end_time", "coord_type_output"], scope: .read) {
            (call, store: any ExportStore) in
            let order = try order(call)
            try await ExportDiskQuota(call, store).check()
            let job = try await store.addExport(order, token: ExportToken.random(), in: call.service, at: call.now)
            return Answer { $0.member("job_id", job.number) }
        }
    }

    private static func order(_ call: APICall) throws(APIFailure) -> ExportOrder {
        let start = try call.parameters.requiredInteger("start_time")
        let end = try call.parameters.requiredInteger("end_time")
        guard end >= start else { throw APIFailure(.rangeReversed) }
        let (span, overflow) = end.subtractingReportingOverflow(start)
        guard !overflow, span <= ExportRules.longestRange else { throw APIFailure(.rangeTooLong) }
        guard end <= call.now.seconds - call.options.exportAge else {
            throw APIFailure(.parameter, "end_time must be at least \(call.options.exportAge) seconds ago")
        }
        return ExportOrder(
            from: Timestamp(seconds: start), through: Timestamp(seconds: end).adding(milliseconds: 999),
            coordinateType: try call.outputType())
    }

    private static func list(_ module: String) -> Endpoint {
        Endpoint("\(module)/getjob", .get, []) { (call, store: any ExportStore) in
            let jobs = try await store.exports(
                in: call.service, doneSince: call.now.adding(milliseconds: -ExportRules.kept))
            return Answer { answer in
                answer.member("total", jobs.count)
                answer.name("jobs")
                answer.array { list in for job in jobs { list.object { write(job, call, to: &$0) } } }
            }
        }
    }

    private static func write(_ job: ExportRecord, _ call: APICall, to object: inout JSONWriter) {
        object.member("job_id", job.number)
        object.member("service_id", job.service.rawValue)
        object.member("start_time", job.order.from.seconds)
        object.member("end_time", job.order.through.seconds)
        object.member("coord_type_output", job.order.coordinateType.rawValue)
        object.member("create_time", call.exportTime(job.created))
        object.member("modify_time", call.exportTime(job.modified))
        object.member("job_status", "\(job.state)")
        object.member("file_url", job.state == .done ? ExportLink(job).url(from: call.origin) : "")
    }

    private static func delete(_ module: String) -> Endpoint {
        Endpoint("\(module)/deletejob", .post, ["job_id"], scope: .read) { (call, store: any ExportStore) in
            try await store.deleteExport(try call.parameters.requiredInteger("job_id"), in: call.service)
            return .done
        }
    }
}

extension APICall {
    /// A time of a job. Published clients disagree, so the operator chooses.
    fileprivate func exportTime(_ time: Timestamp) -> String {
        let text = clock.text(time) ?? ""
        return options.hasExportTimesAsDigits ? text.filter(\.isNumber) : text
    }
}

/// The address of an export's file: `/export/TOKEN/SERVICE_JOB.zip`.
struct ExportLink: Hashable, Sendable {
    private static let folder = "/export/"

    let token: String
    /// As the published service names its files.
    let name: String

    init(_ job: ExportRecord) {
        token = job.token
        name = Self.name(of: job) + ".zip"
    }

    /// Nil when the path is no such address. The name in it is for the client alone.
    init?(path: String) {
        guard path.hasPrefix(Self.folder) else { return nil }
        let parts = path.dropFirst(Self.folder.utf8.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, ExportToken.isToken(parts[0]) else { return nil }
        (token, name) = (String(parts[0]), String(parts[1]))
    }

    /// `origin`: scheme, host and port; nil: the client knows them.
    func url(from origin: String?) -> String { "\(origin ?? "")\(Self.folder)\(token)/\(name)" }

    static func name(of job: ExportRecord) -> String { "\(job.service.rawValue)_\(job.number)" }
}

/// What files of exports take on the server's disk, and what they may take. Files are kept for their time, so a new job waits
/// until there is room for its file.
struct ExportDiskQuota: Sendable {
    /// Of a file that nobody can know yet.
    private static let leastEstimate: Int64 = 1 << 20

    private let options: WebAPIOptions
    /// Of the service, done and not done.
    private let jobs: [ExportRecord]
    private let uses: [ServiceID: ExportUse]

    init(_ call: APICall, _ store: any ExportStore) async throws {
        options = call.options
        jobs = try await store.exports(
            in: call.service, doneSince: call.now.adding(milliseconds: -ExportRules.kept))
        uses = try await store.exportUses()
    }

    /// Throws when another file has no room.
    func check() throws(APIFailure) {
        let sizes = jobs.compactMap { $0.result?.bytes }
        guard sizes.count < ExportRules.mostDone else {
            throw Self.failure(
                "the service has \(sizes.count) finished exports, and \(ExportRules.mostDone) are the most")
        }
        // Those under way and the new one may become as long as the longest.
        let unfinished = Int64(jobs.count - sizes.count + 1)
        let expected = unfinished * max(Self.leastEstimate, sizes.max() ?? 0)
        let own = sizes.reduce(0, +)
        guard own + expected <= options.exportServiceBytes else {
            throw Self.failure(
                "the files of the service's exports take \(own) bytes, \(unfinished) more are expected to take \(expected), and"
                    + " \(options.exportServiceBytes) are the most (service_limit of [exports])")
        }
        let all = uses.values.reduce(0) { $0 + $1.bytes }
        guard all + expected <= options.exportBytes else {
            throw Self.failure(
                "the files of all exports of this server take \(all) bytes, and \(options.exportBytes) are the most"
                    + " (limit of [exports])")
        }
    }

    private static func failure(_ reason: String) -> APIFailure {
        APIFailure(
            .parameter,
            "\(reason): remove exports with export/deletejob, wait until the oldest have been there for 48 hours, or ask the"
                + " operator")
    }
}

extension APIRouter {
    /// The file of an export, for a client that has its address and, unless the operator does without, a key.
    func download(_ link: ExportLink, _ request: APIRequest, _ target: RequestTarget) async -> APIResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            return Self.refusal(405, APIFailure(.method))
        }
        do {
            let kept = now().adding(milliseconds: -ExportRules.kept)
            guard let job = try await store.export(token: link.token), job.state == .done, job.modified >= kept,
                let result = job.result
            else {
                return Self.refusal(
                    404, APIFailure(.parameter, "there is no such file, or it was kept for its 48 hours"))
            }
            if options.exportsNeedKey {
                let form = try RequestForm(request, query: target.query)
                do {
                    _ = try await authenticate(form, target, request, for: .read, service: job.service)
                } catch let failure as APIFailure {
                    return Self.refusal(403, failure)
                }
            }
            var response = APIResponse(
                headers: [
                    ("Content-Type", "application/zip"),
                    ("Content-Disposition", "attachment; filename=\"\(ExportLink(job).name)\""),
                    ("Access-Control-Allow-Origin", "*"), ("Cache-Control", "private, no-store"),
                    ("X-Content-Type-Options", "nosniff"),
                ], body: [], hasValidKey: true)
            response.file = ServedFile(token: job.token, bytes: result.bytes)
            return response
        } catch {
            return Self.refusal(500, APIFailure(error, of: "export/file", log: log))
        }
    }

    private static func refusal(_ httpStatus: Int, _ failure: APIFailure) -> APIResponse {
        var response = response(Answer(failure), callback: nil)
        response.httpStatus = httpStatus
        return response
    }
}
