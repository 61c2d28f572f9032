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
            try await ExportRoom(call, store).check()
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
