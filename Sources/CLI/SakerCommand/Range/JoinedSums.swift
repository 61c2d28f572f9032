import Geodesy
import JSON

/// The numbers of `track/gettrack` that add up over parts of a range: metres, and points that the processing left out.
struct JoinedSums: Hashable {
    private static let names = ["distance", "low_speed_distance", "toll_distance"]

    private var sums: [String: Double] = [:]
    private var dropped: [String: Int64] = [:]
    /// The answers said which points were left out.
    private(set) var isExplained = false

    var metres: Double { sums["distance"] ?? 0 }
    /// Below the threshold that was asked about; nil when none was.
    var slowMetres: Double? { sums["low_speed_distance"] }
    var reasons: [(reason: String, points: Int64)] {
        dropped.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    mutating func add(_ answer: JSONValue, times factor: Int64 = 1) {
        for name in Self.names {
            guard let value = answer[name]?.doubleValue else { continue }
            sums[name, default: 0] += value * Double(factor)
        }
        guard let counts = answer["dropped"]?.objectValue else { return }
        isExplained = true
        for (reason, count) in counts { dropped[reason, default: 0] &+= (count.integerValue ?? 0) &* factor }
    }

    /// What two parts share was counted twice.
    mutating func subtract(_ answer: JSONValue) { add(answer, times: -1) }

    /// The straight line across a silence that is longer than a part, so that no answer has it.
    mutating func bridge(from start: EdgePoint, to end: EdgePoint, slowBelow threshold: Double?) {
        let metres = SurfaceDistance.between(
            Degrees(latitude: start.latitude, longitude: start.longitude),
            Degrees(latitude: end.latitude, longitude: end.longitude))
        sums["distance", default: 0] += metres
        if let threshold, metres / Double(max(end.time - start.time, 1)) * 3.6 < threshold {
            sums["low_speed_distance", default: 0] += metres
        }
    }

    var members: [String: JSONValue] {
        var members = sums.mapValues { JSONValue.double((max($0, 0) * 10_000).rounded() / 10_000) }
        if isExplained {
            members["dropped"] = .object(Dictionary(uniqueKeysWithValues: reasons.map { ($0, .integer($1)) }))
        }
        return members
    }
}
