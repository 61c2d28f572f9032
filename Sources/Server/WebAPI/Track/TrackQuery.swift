/// The common part of `gettrack` and `getdistance`.
struct TrackQuery: Hashable, Sendable {
    static let parameters =
        TrackRange.parameters + ["is_processed", "process_option", "supplement_mode", "low_speed_threshold"]

    let range: TrackRange
    /// Nil for the track as it was uploaded.
    let option: ProcessOption?
    let supplement: SupplementMode
    /// Only `gettrack` takes it.
    let showsRoutes: Bool
    /// km/h
    let slowBelow: Double?
    let explanation: Explanation
}

extension TrackQuery {
    init(_ call: APICall) throws(APIFailure) {
        let parameters = call.parameters
        range = try TrackRange(call)
        option = try parameters.flag("is_processed") ? ProcessOption(parsing: parameters["process_option"]) : nil
        supplement = try SupplementMode(parsing: parameters["supplement_mode"])
        showsRoutes = try SupplementMode.showsPoints(parsing: parameters["supplement_content"])
        slowBelow = try parameters.double("low_speed_threshold")
        explanation = try Explanation(parsing: parameters["explain"])
    }
}
