import Geodesy
import JSON
import Terminal

/// Finds the stays of a range of any length with requests that the server answers.
///
/// A stay that the end of a part cuts is asked for again in a part that begins before it. Only a stay that is longer than a
/// part is put together. A silence that is longer than a part is bridged as the server bridges shorter ones: the places
/// before it and after it decide.
struct StayJoin {
    /// Seconds that make a stay.
    let least: Int64
    /// Metres: the radius of the circle of the stay.
    let within: Double
    let parameters: [(String, String)]
    let rule: RangeRule
    let ask: RangeAsk

    private var found: [Span] = []
    private var remarks = JoinedRemarks()
    /// Of the whole range, as soon as it is needed.
    private var firstPoint: EdgePoint?

    init(
        least: Int64, within: Double, parameters: [(String, String)] = [], rule: RangeRule = RangeRule(),
        _ ask: @escaping RangeAsk
    ) {
        (self.least, self.within, self.parameters, self.rule, self.ask) = (least, within, parameters, rule, ask)
    }

    /// So long a run of points is a stay in each request, so that parts can overlap by more than it.
    private var asked: Int64 { min(least, rule.longest / 2 - rule.lead) }

    /// The answer to the whole range, in the form of `analysis/staypoint`.
    mutating func answer(_ range: ClosedRange<Int64>) async throws -> JSONValue {
        guard range.upperBound - range.lowerBound > rule.longest else { return try await part(range, least) }
        let end = range.upperBound
        var start = range.lowerBound
        while true {
            let part = start...min(start + rule.longest, end)
            let answer = try await self.part(part, asked)
            remarks.add(answer)
            let stays = Self.stays(answer)
            let cut = stays.last.flatMap { $0.isOpenAtEnd ? $0 : nil }
            var last = cut?.end
            // The last part needs it for a stay only of which it shows nothing.
            if last == nil, part.upperBound < end || (stays.isEmpty && found.last?.isOpenAtEnd == true) {
                last = try await EdgePoint.ends(of: part, ask).last?.time
            }
            if part.upperBound == end {
                try await take(stays, last, range)
                break
            }
            guard let last else {
                start = part.upperBound + 1
                continue
            }
            // The point before which no stay lies that is not yet whole.
            let run = cut?.start ?? last - asked
            if run - rule.lead > start {
                try await take(cut == nil ? stays : stays.dropLast(), last, range)
                start = run - rule.lead
                continue
            }
            try await take(stays, last, range)
            // So far back that what goes on is a stay in the next part too.
            if last - asked - rule.lead > start {
                start = last - asked - rule.lead
            } else if let next = try await bridge(cut, part, range) {
                start = next
            } else {
                break
            }
        }
        found.removeAll { $0.end - $0.start < least }
        return remarks.answer([
            "staypoint_num": .integer(Int64(found.count)), "stay_points": .array(found.map(\.json)),
        ])
    }

    private func part(_ range: ClosedRange<Int64>, _ least: Int64) async throws -> JSONValue {
        try await ask(
            "analysis/staypoint", range,
            [("stay_time", String(least)), ("stay_radius", Quantity.decimal(within, 3, trimmed: true))] + parameters)
    }

    private static func stays(_ answer: JSONValue) -> [Span] {
        (answer["stay_points"]?.arrayValue ?? []).map(Span.init)
    }

    /// The stays of the next part; the last one found may go on in it. `last`: the time of the part's last point.
    private mutating func take(
        _ stays: some Collection<Span>, _ last: Int64?, _ range: ClosedRange<Int64>
    ) async throws {
        for (position, stay) in stays.enumerated() {
            if let known = found.last, isSame(known, stay, isFirst: position == 0) {
                if stay.end > known.end { found[found.count - 1].extendStay(by: stay) }
                // The end of the part before cut it, and this part shows how it ends.
                found[found.count - 1].isOpenAtEnd = stay.isOpenAtEnd
                continue
            }
            try await append(stay, range)
        }
        // The part shows points after the stay, which are elsewhere.
        if stays.isEmpty, let known = found.last, let last, last > known.end { closeLast() }
    }

    /// A stay may have begun before the range when it begins with the range's first point, and not only with its part's.
    private mutating func append(_ stay: Span, _ range: ClosedRange<Int64>) async throws {
        closeLast()
        var stay = stay
        if found.isEmpty {
            if firstPoint == nil {
                firstPoint = try await EdgePoint.first(from: range.lowerBound, through: range.upperBound, rule, ask)
            }
            stay.isOpenAtStart = stay.start == firstPoint?.time
        } else {
            stay.isOpenAtStart = false
        }
        found.append(stay)
    }

    private func isSame(_ known: Span, _ stay: Span, isFirst: Bool) -> Bool {
        stay.start < known.end
            || (isFirst && known.isOpenAtEnd && stay.isOpenAtStart && stay.start == known.end)
    }

    /// The first two that one circle can hold.
    private func near(_ before: [Span], _ after: [Span]) -> (Span, Span)? {
        for first in before {
            for second in after {
                guard let place = first.place, let other = second.place,
                    SurfaceDistance.between(place, other) <= 2 * within
                else { continue }
                return (first, second)
            }
        }
        return nil
    }

    /// The last stay does not go on after all.
    private mutating func closeLast() {
        if !found.isEmpty { found[found.count - 1].isOpenAtEnd = false }
    }

    /// Finds out whether the vehicle was at one place before and after the silence that begins in `part`. Returns where the
    /// next part begins; nil when no point comes any more.
    private mutating func bridge(
        _ cut: Span?, _ part: ClosedRange<Int64>, _ range: ClosedRange<Int64>
    ) async throws -> Int64? {
        let end = range.upperBound
        guard let next = try await EdgePoint.first(from: part.upperBound + 1, through: end, rule, ask) else {
            return nil
        }
        var before = [cut].compactMap(\.self)
        if cut == nil {
            // What is no stay yet loses its oldest points until the next one is within reach: at last it is one point.
            before = Self.stays(try await self.part(part, 1)).suffix(1).filter(\.isOpenAtEnd)
            before += [try await EdgePoint.ends(of: part, ask).last].compactMap { $0.map(Span.init(stayAt:)) }
        }
        let later = next.time...min(next.time + rule.longest, end)
        let after =
            Self.stays(try await self.part(later, 1)).prefix(1).filter(\.isOpenAtStart) + [Span(stayAt: next)]
        guard case (var stay, let rest)? = near(before, after) else {
            closeLast()
            return next.time
        }
        stay.extendStay(by: rest)
        stay.isOpenAtEnd = true
        if found.last.map({ stay.start < $0.end }) == true {
            found[found.count - 1].extendStay(by: stay)
        } else {
            try await append(stay, range)
        }
        return next.time
    }
}
