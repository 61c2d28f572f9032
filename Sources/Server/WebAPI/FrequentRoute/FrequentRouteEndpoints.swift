import JSON
import TrackModel
import TrackStore

/// The module `frequentroute`: the routes that an entity often drives. Who asks for a job asks again, with the same parameters,
/// until the answer has the routes.
///
/// A job is a way to read, as an export is: a key that may only read makes it, and one that may only write does not.
enum FrequentRouteEndpoints {
    static let all = [create, get]

    /// Milliseconds after which a job that is done is done anew for whoever asks for it: there may be other points then.
    static let renewal: Int64 = 3_600_000

    /// Seconds since 1970 of the years 1 to 9999: sums of such times are times.
    static let times: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    static let parameters =
        TrackRange.parameters + [
            "time_range", "is_processed", "process_option", "supplement_mode", "coord_type_output",
        ]

    /// `frequentroute/createjob`. Clients repeat it: the same order is the same job.
    static let create = Endpoint("frequentroute/createjob", .get, parameters, about: \.namedEntity) {
        (call, store: any RouteJobStore) in
        _ = try call.outputType()
        let job = try await store.addRouteJob(
            try call.routeOrder(), in: call.service, at: call.now, renewing: call.now.adding(milliseconds: -renewal))
        return Answer { answer in
            answer.member("job_id", job.number)
            answer.member("job_status", "\(job.state)")
        }
    }

    /// `frequentroute/getjob`
    static let get = Endpoint("frequentroute/getjob", .get, parameters, about: \.namedEntity) {
        (call, store: any RouteJobStore) in
        let writer = try call.positionWriter()
        let order = try call.routeOrder()
        guard let job = try await store.routeJob(order, in: call.service),
            job.state != .done || job.modified >= call.now.adding(milliseconds: -RouteJobRules.kept)
        else {
            throw APIFailure(
                .parameter,
                "there is no job of this entity_name, start_time, end_time, time_range and processing: call"
                    + " frequentroute/createjob with the same parameters first")
        }
        switch job.result {
        case nil: return Answer(message: "\(job.state)") { _ in }
        case .refused(let status, let reason)?:
            throw APIFailure(APIStatus(rawValue: Int(clamping: status)) ?? .internalError, reason)
        case .routes(let bytes)?:
            let routes = try FoundRoutes(encoded: bytes)
            // Clients wait for this word.
            return Answer(message: "ok") { routes.write(writer, to: &$0) }
        }
    }
}

extension APICall {
    /// What a job is asked for.
    func routeOrder() throws(APIFailure) -> RouteJobOrder {
        let name = try entityName()
        let start = try parameters.requiredInteger("start_time")
        let end = try parameters.requiredInteger("end_time")
        guard end >= start else { throw APIFailure(.rangeReversed) }
        let (span, overflow) = end.subtractingReportingOverflow(start)
        guard !overflow, span <= RouteJobRules.longestRange else {
            throw APIFailure(
                .rangeTooLong,
                "of frequent routes: end_time is at most 31 days (\(RouteJobRules.longestRange) s) after start_time")
        }
        guard FrequentRouteEndpoints.times.contains(start), FrequentRouteEndpoints.times.contains(end) else {
            throw APIFailure(.parameter, "start_time and end_time are Unix times in seconds, of the years 1 to 9999")
        }
        let minutes = try parameters.requiredInteger("time_range")
        guard RouteJobRules.minutes.contains(minutes) else {
            throw APIFailure(.parameter, "time_range is 1 to 1440 minutes, not \(minutes)")
        }
        let processing = try RouteProcessing(self)
        return RouteJobOrder(
            entity: name, from: Timestamp(seconds: start),
            through: Timestamp(seconds: end).adding(milliseconds: 999), minutes: minutes, processing: processing.text)
    }
}

/// How the track of a job is processed: parameters of `gettrack`, as one text for the store.
struct RouteProcessing: Hashable, Sendable {
    /// As it was sent; nil: the track as it was uploaded.
    let option: String?
    let supplement: SupplementMode

    init(_ call: APICall) throws(APIFailure) {
        let isProcessed = try call.parameters.flag("is_processed")
        let text = call.parameters["process_option"] ?? ""
        guard text.utf8.count <= RouteJobRules.mostProcessing / 2 else {
            throw APIFailure(.parameter, "process_option has at most \(RouteJobRules.mostProcessing / 2) bytes here")
        }
        option = isProcessed ? text : nil
        supplement = try SupplementMode(parsing: call.parameters["supplement_mode"])
    }

    /// The first word is the supplement mode; what follows a blank is the option.
    var text: String { supplement.rawValue + (option.map { " \($0)" } ?? "") }

    /// Nil for a text that is none.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let word = parts.first, let mode = SupplementMode(rawValue: String(word)) else { return nil }
        supplement = mode
        option = parts.count > 1 ? String(parts[1]) : nil
    }
}
