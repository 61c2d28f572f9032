import Geodesy
import JSON

/// Reads a track of any length page by page, in parts that the server answers.
struct JoinedTrack {
    private let rule: RangeRule
    private let ask: RangeAsk
    /// Of `track/gettrack`.
    private let parameters: [(String, String)]
    private let pagePoints: Int64
    /// Pages of one part: a point a second makes 18, or 87 through the agent.
    private static let maximumPages: Int64 = 1000

    private(set) var sums = JoinedSums()
    private(set) var remarks = JoinedRemarks()
    private(set) var gaps: [JSONValue] = []
    /// Points that ``read`` handed on.
    private(set) var points: Int64 = 0
    private(set) var start: JSONValue?
    private(set) var end: JSONValue?
    private var edge: EdgePoint?

    init(
        _ ask: @escaping RangeAsk, parameters: [(String, String)], pagePoints: Int64, rule: RangeRule = RangeRule()
    ) {
        (self.ask, self.parameters, self.pagePoints, self.rule) = (ask, parameters, pagePoints, rule)
    }

    /// Hands on the answer to each page. `points` and `dropped_points` have what no other page has; other members are
    /// those of the part, and ``sums`` has them for the range. Without pages, it reads only these sums.
    mutating func read(
        _ range: ClosedRange<Int64>, withPages: Bool = true, _ take: (JSONValue) throws -> Void
    ) async throws {
        var walk = RangeWalk(range, rule)
        while true {
            let first = try await page(1, of: walk.part, size: withPages ? pagePoints : 1)
            count(first)
            let step = walk.step(EdgePoint(first["end_point"])?.time)
            if withPages { try await hand(on: first, walk, step, take) }
            guard let step else { break }
            if step.isSilent { edge = EdgePoint(first["end_point"]) }
            if let shared = step.shared { sums.subtract(try await page(1, of: shared, size: 1, withGaps: false)) }
            walk.advance(step)
        }
        gaps = GapJoin.joined(gaps)
    }

    private func page(
        _ index: Int64, of part: ClosedRange<Int64>, size: Int64, withGaps: Bool = true
    ) async throws -> JSONValue {
        var own = parameters
        if index > 1 || !withGaps { own.removeAll { $0.0 == "gap_content" } }
        return try await ask(
            "track/gettrack", part, [("page_index", String(index)), ("page_size", String(size))] + own)
    }

    private mutating func count(_ answer: JSONValue) {
        sums.add(answer)
        remarks.add(answer)
        gaps += answer["gaps"]?.arrayValue ?? []
        guard let first = EdgePoint(answer["start_point"]) else { return }
        if let edge, bridgesSilence { sums.bridge(from: edge, to: first, slowBelow: threshold) }
        edge = nil
        start = start ?? answer["start_point"]
        end = answer["end_point"]
    }

    private var bridgesSilence: Bool {
        parameters.contains { $0.0 == "supplement_mode" && $0.1 != "no_supplement" }
    }

    private var threshold: Double? {
        parameters.first { $0.0 == "low_speed_threshold" }.flatMap { Double($0.1) }
    }

    private mutating func hand(
        on first: JSONValue, _ walk: RangeWalk, _ step: RangeWalk.Step?, _ take: (JSONValue) throws -> Void
    ) async throws {
        let total = first["total"]?.integerValue ?? 0
        let last = step?.shownThrough ?? .max
        var (answer, index) = (first, Int64(1))
        while true {
            let shown = Self.cut(answer, from: walk.shownFrom, through: last)
            points += Int64(shown["points"]?.arrayValue?.count ?? 0)
            try take(shown)
            guard index < Self.maximumPages, index * pagePoints < total else { break }
            if let time = answer["points"]?.arrayValue?.last?["loc_time"]?.integerValue, time > last { break }
            index += 1
            answer = try await page(index, of: walk.part, size: pagePoints)
        }
    }

    /// The answer with the points of these seconds alone.
    private static func cut(_ answer: JSONValue, from first: Int64, through last: Int64) -> JSONValue {
        guard case .object(var members) = answer else { return answer }
        for list in ["points", "dropped_points"] {
            guard let points = members[list]?.arrayValue else { continue }
            let kept = points.filter { point in
                guard let time = point["loc_time"]?.integerValue else { return true }
                return time >= first && time <= last
            }
            guard kept.count < points.count else { continue }
            members[list] = .array(kept)
            if list == "points" { members["size"] = .integer(Int64(kept.count)) }
        }
        return .object(members)
    }

    /// What the answer to the whole range would say beside its points.
    var summary: JSONValue {
        var members = sums.members
        members["total"] = .integer(points)
        members["start_point"] = start
        members["end_point"] = end
        if !gaps.isEmpty { members["gaps"] = .array(gaps) }
        return remarks.answer(members)
    }
}

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

/// Joins the gaps of several answers: the server cuts a gap at the end of each answer, and parts of a range overlap.
enum GapJoin {
    static func joined(_ gaps: [JSONValue]) -> [JSONValue] {
        var joined: [[String: JSONValue]] = []
        let sorted = gaps.compactMap(\.objectValue).enumerated().sorted {
            (time($0.element, "start_time"), $0.offset) < (time($1.element, "start_time"), $1.offset)
        }
        for (_, gap) in sorted {
            let same = joined.lastIndex { last in
                time(gap, "start_time") - time(last, "end_time") <= 1
                    && ["reason", "detail", "lost_points"].allSatisfy { last[$0] == gap[$0] }
            }
            if let same {
                if time(gap, "end_time") > time(joined[same], "end_time") { joined[same]["end_time"] = gap["end_time"] }
            } else {
                joined.append(gap)
            }
        }
        return joined.map { .object($0) }
    }

    private static func time(_ gap: [String: JSONValue], _ name: String) -> Int64 {
        gap[name]?.integerValue?.clamped ?? 0
    }
}
