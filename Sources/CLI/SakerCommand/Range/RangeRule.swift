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
