import TrackModel

/// Whose track a call is about, and from when until when.
struct TrackRange: Hashable, Sendable {
    static let parameters = ["entity_name", "start_time", "end_time"]

    let service: ServiceID
    let entity: ExactName
    let from: Timestamp
    /// The last millisecond of `end_time`: the API's times are whole seconds.
    let through: Timestamp
}

extension TrackRange {
    /// Longest range of one call, seconds.
    static let maximum: Int64 = 86_400

    init(_ call: APICall) throws(APIFailure) {
        service = call.service
        entity = ExactName(try call.entityName())
        let start = try call.parameters.requiredInteger("start_time")
        let end = try call.parameters.requiredInteger("end_time")
        guard end >= start else { throw APIFailure(.rangeReversed) }
        let (span, overflow) = end.subtractingReportingOverflow(start)
        guard !overflow, span <= Self.maximum else { throw APIFailure(.rangeTooLong) }
        from = Timestamp(seconds: start)
        // Clients ask up to "now" by their own clock, so an end ahead of the server's clock is no error. Points that a
        // receiver dated ahead are found where they were dated.
        through = Timestamp(seconds: end).adding(milliseconds: 999)
    }
}
