import JSON
import TrackAnalysis
import TrackModel

/// The common part of `gettrack` and `getdistance`.
struct TrackQuery: Hashable, Sendable {
    static let parameters =
        TrackRange.parameters + [
            TrackRange.long, "is_processed", "process_option", "supplement_mode", "low_speed_threshold",
        ]

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

/// Whose track a call is about, and from when until when.
struct TrackRange: Hashable, Sendable {
    static let parameters = ["entity_name", "start_time", "end_time"]

    let service: ServiceID
    let entity: ExactName
    let from: Timestamp
    /// The last millisecond of `end_time`: the API's times are whole seconds.
    let through: Timestamp
    /// The client asked for a range of any length.
    var isLong = false
}

extension TrackRange {
    /// Longest range of one call, seconds.
    static let maximum: Int64 = 86_400
    /// The parameter with which a range may be longer, an addition to the published API.
    static let long = "long_range"

    /// Points that may be read, for a call whose bound is `usual` without `long_range`.
    func limit(_ usual: Int, _ options: WebAPIOptions) -> Int { isLong ? max(usual, options.maximumLongPoints) : usual }

    init(_ call: APICall) throws(APIFailure) {
        service = call.service
        entity = ExactName(try call.entityName())
        let start = try call.parameters.requiredInteger("start_time")
        let end = try call.parameters.requiredInteger("end_time")
        guard end >= start else { throw APIFailure(.rangeReversed) }
        let (span, overflow) = end.subtractingReportingOverflow(start)
        isLong = try call.parameters.flag(Self.long)
        guard !overflow, isLong || span <= Self.maximum else { throw APIFailure(.rangeTooLong) }
        from = Timestamp(seconds: start)
        // Clients ask up to "now" by their own clock, so an end ahead of the server's clock is no error. Points that a
        // receiver dated ahead are found where they were dated.
        through = Timestamp(seconds: end).adding(milliseconds: 999)
    }
}

/// What a client wants to know of how an answer came about: `explain`, an addition to the published API.
enum Explanation: Hashable, Sendable {
    case none
    /// How many points each reason dropped.
    case counts
    /// The dropped points too.
    case points

    init(parsing text: String?) throws(APIFailure) {
        switch text.map({ Parameters.trimmed($0).lowercased() }) {
        case nil, "0": self = .none
        case "1": self = .counts
        case "points": self = .points
        default: throw APIFailure(.parameter, "explain must be 0, 1 or points")
        }
    }

    /// The members `dropped`, `breaks` and `dropped_points`: which points the processing left out, in the order of the track.
    func write(
        _ dropped: [(point: TrackPoint, reason: DropReason)], breaks: Int = 0, _ writer: PointWriter,
        to object: inout JSONWriter
    ) {
        guard self != .none else { return }
        write(DropCount.all(of: dropped.map(\.reason)), dropped, breaks: breaks, writer, to: &object)
    }

    /// The same when the points are counted already. `dropped`: what `explain=points` shows.
    func write(
        _ counts: [DropCount], _ dropped: [(point: TrackPoint, reason: DropReason)], breaks: Int, _ writer: PointWriter,
        to object: inout JSONWriter
    ) {
        guard self != .none else { return }
        object.object("dropped") { for drop in counts { $0.member(drop.reason.name, drop.count) } }
        if breaks > 0 { object.member("breaks", breaks) }
        guard self == .points else { return }
        object.array("dropped_points") { list in
            for (point, reason) in dropped {
                list.object {
                    writer.writePosition(of: point, to: &$0)
                    $0.member("_reason", reason.name)
                }
            }
        }
    }
}

/// How many points a reason has left out.
struct DropCount: Hashable, Sendable {
    let reason: DropReason
    let count: Int

    /// Without the reasons that left out none.
    static func all(of reasons: some Sequence<DropReason>) -> [DropCount] {
        var counts: [DropReason: Int] = [:]
        for reason in reasons { counts[reason, default: 0] += 1 }
        return DropReason.allCases.compactMap { reason in
            counts[reason].map { DropCount(reason: reason, count: $0) }
        }
    }
}
