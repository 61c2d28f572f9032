import Geodesy
import JSON

/// Finds the trips of a range of any length with requests that the server answers.
///
/// A trip that the end of a part cuts is asked for again in a part that begins before it. Only a trip that is longer than a
/// part is put together from what its parts tell.
struct TripJoin {
    /// Seconds of silence after which a movement is another trip.
    private static let silence: Int64 = 3600
    /// Seconds that surely have a stay between trips, if there is one.
    private static let stay: Int64 = 600
    /// Metres of the stays between trips.
    private static let reach = 50.0
    /// Metres: a circle that holds what is within ``reach`` of a place at one of its edges.
    private static let circle = "25"

    let parameters: [(String, String)]
    let rule: RangeRule
    let ask: RangeAsk

    private var found: [Span] = []
    private var remarks = JoinedRemarks()
    /// Of the whole range, as soon as it is needed.
    private var firstPoint: EdgePoint?

    init(parameters: [(String, String)] = [], rule: RangeRule = RangeRule(), _ ask: @escaping RangeAsk) {
        (self.parameters, self.rule, self.ask) = (parameters, rule, ask)
    }

    /// The answer to the whole range, in the form of `analysis/trips`.
    mutating func answer(_ range: ClosedRange<Int64>) async throws -> JSONValue {
        guard range.upperBound - range.lowerBound > rule.longest else {
            return try await ask("analysis/trips", range, parameters)
        }
        var start = range.lowerBound
        while true {
            let part = start...min(start + rule.longest, range.upperBound)
            let answer = try await ask("analysis/trips", part, parameters)
            remarks.add(answer)
            let trips = (answer["trips"]?.arrayValue ?? []).map(Span.init)
            if part.upperBound == range.upperBound {
                try await take(trips, part, range)
                break
            }
            guard let cut = trips.last, cut.isOpenAtEnd else {
                try await take(trips, part, range)
                // A stay, or a movement that is no trip yet and began within the lead.
                start = max(part.upperBound - rule.lead, start + 1)
                continue
            }
            // The stay before the trip needs no more than the shorter lead.
            if let next = [rule.lead, Self.stay].map({ cut.start - $0 }).first(where: { $0 > start }) {
                try await take(trips.dropLast(), part, range)
                start = next
                continue
            }
            try await take(trips, part, range)
            if part.upperBound - cut.end > Self.silence { try await close(part, range.upperBound) }
            start = max(cut.end, start + 1)
        }
        return remarks.answer(["trip_num": .integer(Int64(found.count)), "trips": .array(found.map(\.json))])
    }

    /// The trips of the next part; the last one found may go on in it.
    private mutating func take(_ trips: some Collection<Span>, _ part: ClosedRange<Int64>, _ range: ClosedRange<Int64>)
        async throws
    {
        for (position, trip) in trips.enumerated() {
            if position == 0, let last = found.last, last.isOpenAtEnd, trip.isOpenAtStart, trip.start <= last.end + 1 {
                found[found.count - 1].extendTrip(by: trip)
                continue
            }
            // The lead has the end of what is known.
            if let last = found.last, trip.start < last.end { continue }
            closeLast()
            var trip = trip
            if trip.isOpenAtStart {
                if firstPoint == nil {
                    firstPoint = try await EdgePoint.first(
                        from: range.lowerBound, through: range.upperBound, rule, ask)
                }
                trip.isOpenAtStart = trip.start == firstPoint?.time
                if !trip.isOpenAtStart { try await trim(&trip, part, range.lowerBound) }
            }
            found.append(trip)
        }
    }

    /// A silence ends the last trip. It ended earlier, with the begin of a stay, if the vehicle is there after the silence.
    private mutating func close(_ part: ClosedRange<Int64>, _ end: Int64) async throws {
        // Without a point after it, the track ends with the trip.
        guard let next = try await EdgePoint.first(from: part.upperBound + 1, through: end, rule, ask) else { return }
        closeLast()
        let answer = try await ask("analysis/staypoint", part, [("stay_time", "1"), ("stay_radius", Self.circle)])
        guard let trip = found.last, let stay = answer["stay_points"]?.arrayValue?.last.map(Span.init),
            stay.isOpenAtEnd,
            stay.start > trip.start, stay.start < trip.end, let place = stay.place,
            SurfaceDistance.between(
                place, Degrees(latitude: next.latitude, longitude: next.longitude)) <= Self.reach
        else { return }
        found[found.count - 1].end = stay.start
        found[found.count - 1].members["end_point"] = stay.members["stay_point"]
    }

    /// A trip that begins with the first point after a long silence began later, with the end of a stay, if the vehicle was
    /// there before the silence.
    private func trim(_ trip: inout Span, _ part: ClosedRange<Int64>, _ begin: Int64) async throws {
        guard let last = try await EdgePoint.last(from: begin, through: trip.start - 1, rule, ask),
            trip.start - last.time > rule.lead
        else { return }
        let answer = try await ask("analysis/staypoint", part, [("stay_time", "1"), ("stay_radius", Self.circle)])
        guard let stay = answer["stay_points"]?.arrayValue?.first.map(Span.init), stay.isOpenAtStart,
            stay.start == trip.start, stay.end < trip.end, let place = stay.place,
            SurfaceDistance.between(place, Degrees(latitude: last.latitude, longitude: last.longitude))
                <= Self.reach
        else { return }
        trip.start = stay.end
        trip.members["start_point"] = stay.members["stay_point"]
    }

    private mutating func closeLast() {
        if !found.isEmpty { found[found.count - 1].isOpenAtEnd = false }
    }
}
