import TrackModel

/// What `gettrack` and `getdistance` have in common.
struct TrackQuery: Hashable, Sendable {
    static let parameters = [
        "entity_name", "start_time", "end_time", "is_processed", "process_option", "supplement_mode",
        "low_speed_threshold",
    ]

    let service: ServiceID
    let entity: ExactName
    let from: Timestamp
    /// The last millisecond of `end_time`: the API's times are whole seconds.
    let through: Timestamp
    /// Nil for the track as it was uploaded.
    let option: ProcessOption?
    let supplement: SupplementMode
    /// km/h
    let slowBelow: Double?
}

extension TrackQuery {
    init(_ call: APICall) throws(APIFailure) {
        let parameters = call.parameters
        service = call.service
        entity = ExactName(try call.entityName())
        let start = try parameters.requiredInteger("start_time")
        let end = try parameters.requiredInteger("end_time")
        guard end >= start else { throw APIFailure(.rangeReversed) }
        let (span, overflow) = end.subtractingReportingOverflow(start)
        guard !overflow, span <= TrackEndpoints.maximumRange else { throw APIFailure(.rangeTooLong) }
        from = Timestamp(seconds: start)
        // Clients ask up to "now" by their own clock, so an end ahead of the server's clock is no error. Points that a
        // receiver dated ahead are found where they were dated.
        through = Timestamp(seconds: end).adding(milliseconds: 999)
        option = try parameters.flag("is_processed") ? ProcessOption(parsing: parameters["process_option"]) : nil
        supplement = try SupplementMode(parsing: parameters["supplement_mode"])
        slowBelow = try parameters.double("low_speed_threshold")
    }
}
