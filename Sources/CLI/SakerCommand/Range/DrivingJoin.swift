import JSON

/// Rates the driving in a range of any length with requests that the server answers: sums and events of parts that overlap.
struct DrivingJoin {
    let parameters: [(String, String)]
    let rule: RangeRule
    let ask: RangeAsk

    private var sums = JoinedSums()
    private var remarks = JoinedRemarks()
    private var events: [String: [JSONValue]] = [:]
    private var start: JSONValue?
    private var end: JSONValue?
    /// Nil as long as no speed is known.
    private var fastest: JSONValue?
    /// Of each part: metres, and the share of the moving time that could be rated.
    private var rated: [(metres: Double, share: Double)] = []

    /// What this part and the next both have.
    private var sharedSpeeding: [JSONValue] = []

    private static let lists = ["harsh_acceleration", "harsh_breaking", "harsh_steering"]

    init(parameters: [(String, String)] = [], rule: RangeRule = RangeRule(), _ ask: @escaping RangeAsk) {
        (self.parameters, self.rule, self.ask) = (parameters, rule, ask)
    }

    /// The answer to the whole range, in the form of `analysis/drivingbehavior`.
    mutating func answer(_ range: ClosedRange<Int64>) async throws -> JSONValue {
        guard range.upperBound - range.lowerBound > rule.longest else { return try await part(range) }
        var walk = RangeWalk(range, rule)
        while true {
            let answer = try await part(walk.part)
            let step = walk.step(EdgePoint(answer["end_point"])?.time)
            add(answer, from: walk.shownFrom, through: step?.shownThrough ?? .max)
            guard let step else { break }
            if let shared = step.shared {
                let both = try await part(shared)
                sums.subtract(both)
                sharedSpeeding = both["speeding"]?.arrayValue ?? []
            }
            walk.advance(step)
        }
        return joined
    }

    private func part(_ range: ClosedRange<Int64>) async throws -> JSONValue {
        try await ask("analysis/drivingbehavior", range, parameters)
    }

    private mutating func add(_ answer: JSONValue, from first: Int64, through last: Int64) {
        sums.add(answer)
        remarks.add(answer)
        start = start ?? answer["start_point"]
        end = answer["end_point"] ?? end
        if let speed = answer["max_speed"], answer["start_point"] != nil,
            fastest == nil || speed.doubleValue ?? 0 > fastest?.doubleValue ?? 0
        {
            fastest = speed
        }
        if let share = answer["harsh"]?["rated"]?.doubleValue {
            rated.append((max(answer["distance"]?.doubleValue ?? 0, 1), share))
        }
        for list in Self.lists {
            events[list, default: []] += (answer[list]?.arrayValue ?? []).filter { event in
                guard let time = event["loc_time"]?.integerValue else { return false }
                return time >= first && time <= last
            }
        }
        for episode in answer["speeding"]?.arrayValue ?? [] { addSpeeding(episode, from: first, through: last) }
    }

    /// Speeding that the end of a part cuts goes on in the next one.
    private mutating func addSpeeding(_ episode: JSONValue, from first: Int64, through last: Int64) {
        guard let time = Self.times(episode) else { return }
        var list = events["speeding"] ?? []
        defer { events["speeding"] = list }
        guard let own = list.last, let known = Self.times(own), time.start <= known.end else {
            if time.start >= first, time.start <= last { list.append(episode) }
            return
        }
        guard time.end > known.end else { return }
        guard time.start > known.start, case .object(var members) = own,
            let from = own["speeding_points"]?.arrayValue?.first, let to = episode["speeding_points"]?.arrayValue?.last
        else {
            list[list.count - 1] = episode
            return
        }
        let both = sharedSpeeding.first { Self.times($0)?.end == known.end }
        let metres = [own, episode].reduce(0) { $0 + ($1["speeding_distance"]?.doubleValue ?? 0) }
        members["speeding_distance"] = .double(max(metres - (both?["speeding_distance"]?.doubleValue ?? 0), 0))
        members["speeding_points"] = [from, to]
        list[list.count - 1] = .object(members)
    }

    private static func times(_ episode: JSONValue) -> (start: Int64, end: Int64)? {
        let points = episode["speeding_points"]?.arrayValue ?? []
        guard let start = points.first?["loc_time"]?.integerValue, let end = points.last?["loc_time"]?.integerValue
        else { return nil }
        return (start, end)
    }

    private var joined: JSONValue {
        let duration = max((EdgePoint(end)?.time ?? 0) - (EdgePoint(start)?.time ?? 0), 0)
        var members = sums.members
        members["duration"] = .integer(duration)
        members["average_speed"] = .double(duration > 0 ? sums.metres / Double(duration) * 3.6 : 0)
        members["max_speed"] = fastest ?? (start == nil ? 0 : nil)
        members["start_point"] = start
        members["end_point"] = end
        for list in Self.lists + ["speeding"] {
            let found = events[list] ?? []
            members[list] = .array(found)
            members["\(list)_num"] = .integer(Int64(found.count))
        }
        if !rated.isEmpty {
            let metres = rated.reduce(0) { $0 + $1.metres }
            let share = rated.reduce(0) { $0 + $1.metres * $1.share } / metres
            var harsh: [String: JSONValue] = ["rated": .double((share * 100).rounded() / 100)]
            if share < 0.5 { harsh["state"] = "insufficient_rate" }
            members["harsh"] = .object(harsh)
        }
        return remarks.answer(members)
    }
}
