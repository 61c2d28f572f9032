import JSON
import TrackAnalysis
import TrackModel

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
