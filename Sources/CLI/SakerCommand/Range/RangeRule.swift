import Geodesy
import JSON

/// How a range that is longer than the server answers at once is asked for in parts that overlap. Seconds.
///
/// What the server computes has a memory of minutes: denoising, stops, stays, an hour of silence for trips. After ``lead``
/// seconds of the same track two readings agree, whatever came before.
struct RangeRule: Hashable {
    /// The longest range of one request: both ends count.
    var longest: Int64 = 86_400
    /// How much of the track before a part is read again, at most half of ``longest``.
    var lead: Int64 = 7200
}

/// Asks `path` about a range, both ends in Unix seconds, with further parameters.
typealias RangeAsk = (_ path: String, _ range: ClosedRange<Int64>, _ parameters: [(String, String)]) async throws ->
    JSONValue

/// What an answer says of its first and last point.
struct EdgePoint: Hashable {
    /// Unix seconds.
    let time: Int64
    let latitude: Double
    let longitude: Double

    /// Nil when the range had no points: then a member is missing, or all of it is 0.
    init?(_ value: JSONValue?) {
        guard let time = value?["loc_time"]?.integerValue, time > 0, time == time.clamped,
            let latitude = value?["latitude"]?.doubleValue, let longitude = value?["longitude"]?.doubleValue
        else { return nil }
        (self.time, self.latitude, self.longitude) = (time, latitude, longitude)
    }

    /// The first and the last point of a range, as uploaded.
    static func ends(
        of range: ClosedRange<Int64>, _ ask: RangeAsk
    ) async throws -> (first: EdgePoint?, last: EdgePoint?) {
        let answer = try await ask("track/gettrack", range, [("page_size", "1")])
        return (EdgePoint(answer["start_point"]), EdgePoint(answer["end_point"]))
    }

    /// The last point of a range of any length.
    static func last(
        from start: Int64, through end: Int64, _ rule: RangeRule, _ ask: RangeAsk
    ) async throws -> EdgePoint? {
        var end = end
        while start <= end {
            let part = max(end - rule.longest, start)...end
            if let point = try await ends(of: part, ask).last { return point }
            end = part.lowerBound - 1
        }
        return nil
    }

    /// The first point of a range of any length.
    static func first(
        from start: Int64, through end: Int64, _ rule: RangeRule, _ ask: RangeAsk
    ) async throws -> EdgePoint? {
        var start = start
        while start <= end {
            let part = start...min(start + rule.longest, end)
            if let point = try await ends(of: part, ask).first { return point }
            start = part.upperBound + 1
        }
        return nil
    }
}

/// Walks along a range in parts that overlap, so that sums and lists of the parts are those of the whole range.
///
/// Two neighbouring parts share the track from the begin of the second to the end of the first. A sum of the range is the
/// sum of both parts less that of what they share: the effects of the ends cancel out. A list of the range is that of the
/// first part up to the middle of what they share, and from there on that of the second.
struct RangeWalk: Hashable {
    struct Step: Hashable {
        /// What both parts have; nil when they share at most one point.
        var shared: ClosedRange<Int64>?
        /// The last second of which this part's points count.
        var shownThrough: Int64
        /// Where the next part begins.
        var next: Int64
        /// The only point of this part is its first one: a silence as long as a part follows it.
        var isSilent = false
    }

    private let rule: RangeRule
    private let end: Int64
    /// The part to ask for.
    private(set) var part: ClosedRange<Int64>
    /// The first second of which this part's points count.
    private(set) var shownFrom: Int64

    init(_ range: ClosedRange<Int64>, _ rule: RangeRule) {
        self.rule = rule
        end = range.upperBound
        part = range.lowerBound...min(range.lowerBound + rule.longest, end)
        shownFrom = range.lowerBound
    }

    /// What follows the part, nil after the last. `last` is the time of the last point of its answer, if it has points.
    func step(_ last: Int64?) -> Step? {
        guard part.upperBound < end else { return nil }
        let after = part.upperBound + 1
        guard let last, last > part.lowerBound, last < after else {
            return Step(shared: nil, shownThrough: part.upperBound, next: after, isSilent: last != nil)
        }
        // So far back that the silence after the last point is within the next part, if it is short enough.
        let begin = last - rule.lead
        guard begin > part.lowerBound else { return Step(shared: nil, shownThrough: last, next: last) }
        return Step(shared: begin...part.upperBound, shownThrough: begin + rule.lead / 2, next: begin)
    }

    mutating func advance(_ step: Step) {
        part = step.next...min(step.next + rule.longest, end)
        shownFrom = step.shownThrough + 1
    }
}

/// A stay or a trip of an answer: when it began and ended, and whether the range cuts it.
struct Span: Hashable {
    /// Unix seconds.
    var start: Int64
    var end: Int64
    var isOpenAtStart: Bool
    var isOpenAtEnd: Bool
    /// As the server wrote it; ``json`` has the values above.
    var members: [String: JSONValue]

    init(_ value: JSONValue) {
        start = (value["start_time"]?.integerValue ?? 0).clamped
        end = max((value["end_time"]?.integerValue ?? 0).clamped, start)
        let open = value["open"]?.stringValue ?? ""
        isOpenAtStart = ["start", "both"].contains(open)
        isOpenAtEnd = ["end", "both"].contains(open)
        members = value.objectValue ?? [:]
    }

    /// A stay of one point.
    init(stayAt point: EdgePoint) {
        (start, end, isOpenAtStart, isOpenAtEnd) = (point.time, point.time, false, false)
        members = ["stay_point": ["latitude": .double(point.latitude), "longitude": .double(point.longitude)]]
    }

    var json: JSONValue {
        var members = members
        members["start_time"] = .integer(start)
        members["end_time"] = .integer(end)
        members["duration"] = .integer(end - start)
        members["open"] =
            switch (isOpenAtStart, isOpenAtEnd) {
            case (true, true): "both"
            case (true, false): "start"
            case (false, true): "end"
            case (false, false): nil
            }
        return .object(members)
    }

    /// Of a stay.
    var place: Degrees? {
        guard let latitude = members["stay_point"]?["latitude"]?.doubleValue,
            let longitude = members["stay_point"]?["longitude"]?.doubleValue
        else { return nil }
        return Degrees(latitude: latitude, longitude: longitude)
    }

    /// A stay goes on as `later`, which ends after it. The place is the mean of both, by their durations.
    mutating func extendStay(by later: Span) {
        let (own, added) = (Double(end - start) + 1, Double(later.end - end) + 1)
        (end, isOpenAtEnd) = (later.end, later.isOpenAtEnd)
        guard let place, let other = later.place else { return }
        // Both are within some hundred metres. On the antimeridian the mean would lie on the other side of the earth.
        guard abs(place.longitude - other.longitude) < 180 else { return }
        func mean(_ first: Double, _ second: Double) -> JSONValue {
            .double((first * own + second * added) / (own + added))
        }
        var point = members["stay_point"]?.objectValue ?? [:]
        point["latitude"] = mean(place.latitude, other.latitude)
        point["longitude"] = mean(place.longitude, other.longitude)
        members["stay_point"] = .object(point)
    }

    /// A trip goes on as `later`, which begins with its last point.
    mutating func extendTrip(by later: Span) {
        (end, isOpenAtEnd) = (later.end, later.isOpenAtEnd)
        func number(_ name: String) -> (Double, Double) {
            (members[name]?.doubleValue ?? 0, later.members[name]?.doubleValue ?? 0)
        }
        for name in ["distance", "unrecorded_distance"] {
            let (own, other) = number(name)
            members[name] = .double(own + other)
        }
        let (own, other) = number("max_speed")
        if other > own { members["max_speed"] = later.members["max_speed"] }
        members["end_point"] = later.members["end_point"]
    }
}
