import JSON
import Terminal

/// Shows the server's analysis of a track to a person.
enum AnalysisView {
    static func stays(_ stays: [JSONValue], width: Int? = nil) -> [String] {
        guard !stays.isEmpty else { return ["No stay in this time."] }
        var table = TextTable(["FROM", TextTable.Column("TO", rank: 1), .number("DURATION"), "PLACE"])
        for stay in stays {
            table.add(time(stay, "start_time"), end(stay), duration(stay), place(stay["stay_point"]))
        }
        return table.lines(width: width) + ["", Quantity.count(Int64(stays.count), "stay")]
    }

    static func trips(_ trips: [JSONValue], width: Int? = nil) -> [String] {
        guard !trips.isEmpty else { return ["No trip in this time."] }
        var table = TextTable([
            "FROM", TextTable.Column("TO", rank: 2), .number("DURATION"), .number("DISTANCE"),
            .number("MAX KM/H", rank: 1), TextTable.Column("START", rank: 3), TextTable.Column("END", rank: 4),
        ])
        var metres = 0.0
        for trip in trips {
            let distance = trip["distance"]?.doubleValue ?? 0
            metres += distance
            table.add(
                time(trip, "start_time"), end(trip), duration(trip), Quantity.distance(distance),
                trip["max_speed"]?.doubleValue.map { Quantity.decimal($0, 0) } ?? "-", place(trip["start_point"]),
                place(trip["end_point"]))
        }
        return table.lines(width: width) + [
            "", "\(Quantity.count(Int64(trips.count), "trip")), \(Quantity.distance(metres))",
        ]
    }

    static func driving(_ answer: JSONValue, width: Int? = nil) -> [String] {
        var view = Driving()
        view.add(answer)
        return view.lines(width)
    }

    private struct Driving {
        private var metres = 0.0
        private var seconds: Int64 = 0
        private var fastest: Double?
        private var events: [Event] = []
        private var isInsufficient = false

        private struct Event {
            let time: Int64
            let name: String
            let detail: String
            let place: String
        }

        /// The lists of an answer, and what a person calls one of their members.
        private static let kinds = [
            ("speeding", "speeding"), ("harsh_acceleration", "acceleration"), ("harsh_breaking", "braking"),
            ("harsh_steering", "curve"),
        ]

        mutating func add(_ answer: JSONValue) {
            metres += answer["distance"]?.doubleValue ?? 0
            seconds += (answer["duration"]?.integerValue ?? 0).clamped
            if let speed = answer["max_speed"]?.doubleValue { fastest = max(fastest ?? 0, speed) }
            if answer["harsh"]?["state"]?.stringValue == "insufficient_rate" { isInsufficient = true }
            for (list, name) in Self.kinds {
                events += (answer[list]?.arrayValue ?? []).map { Self.event($0, name) }
            }
        }

        private static func event(_ value: JSONValue, _ name: String) -> Event {
            func text(_ key: String, _ places: Int) -> String {
                Quantity.decimal(value[key]?.doubleValue ?? 0, places)
            }
            let start = value["speeding_points"]?.arrayValue?.first ?? value
            let detail =
                switch name {
                case "speeding":
                    Quantity.distance(value["speeding_distance"]?.doubleValue ?? 0)
                        + " over \(Quantity.decimal(start["limit_speed"]?.doubleValue ?? 0, 0)) km/h"
                case "curve": "\(text("centripetal_acceleration", 1)) m/s², \(text("speed", 0)) km/h"
                default: "\(text("acceleration", 1)) m/s², \(text("initial_speed", 0)) to \(text("end_speed", 0)) km/h"
                }
            return Event(
                time: start["loc_time"]?.integerValue ?? 0, name: name, detail: detail,
                place: AnalysisView.place(start))
        }

        func lines(_ width: Int?) -> [String] {
            var table = TextTable.pairs
            table.add("Distance", Quantity.distance(metres))
            table.add("Duration", DurationText.text(seconds * 1000))
            table.add("Average", seconds > 0 ? Quantity.speed(metres / Double(seconds)) : "-")
            table.add("Fastest", fastest.map { Quantity.decimal($0, 1) + " km/h" } ?? "-")
            var lines = table.lines(width: width)
            if !events.isEmpty {
                var list = TextTable(["TIME", "EVENT", .text("DETAIL"), TextTable.Column("PLACE", rank: 1)])
                for event in events.sorted(by: { $0.time < $1.time }) {
                    list.add(LocalTime.text(event.time.clamped * 1000), event.name, event.detail, event.place)
                }
                lines += [""] + list.lines(width: width)
            }
            if isInsufficient {
                lines += [
                    "",
                    "Most points are more than 3 s apart: harsh events may be missing. A gather interval of 2 s shows them.",
                ]
            }
            return lines
        }
    }

    private static func time(_ value: JSONValue, _ key: String) -> String {
        LocalTime.text((value[key]?.integerValue ?? 0).clamped * 1000)
    }

    /// The end, or that the range ended first.
    private static func end(_ value: JSONValue) -> String {
        ["end", "both"].contains(value["open"]?.stringValue)
            ? "goes on"
            : LocalTime.text(
                endOf: (value["end_time"]?.integerValue ?? 0).clamped * 1000,
                from: (value["start_time"]?.integerValue ?? 0).clamped * 1000)
    }

    private static func duration(_ value: JSONValue) -> String {
        DurationText.text((value["duration"]?.integerValue ?? 0).clamped * 1000)
    }

    fileprivate static func place(_ value: JSONValue?) -> String {
        guard let latitude = value?["latitude"]?.doubleValue, let longitude = value?["longitude"]?.doubleValue else {
            return "?"
        }
        return Quantity.place(latitude, longitude)
    }
}

extension Int64 {
    /// Seconds that are milliseconds without overflow: a server may answer anything.
    var clamped: Int64 { Swift.min(Swift.max(self, -9_000_000_000_000), 9_000_000_000_000) }
}

/// Shows the gaps of a track to a person.
enum GapView {
    static func lines(_ gaps: [JSONValue], width: Int? = nil) -> [String] {
        let gaps = gaps.map(Gap.init)
        guard !gaps.isEmpty else { return ["No gap in this time."] }
        var table = TextTable(["FROM", TextTable.Column("TO", rank: 1), .number("DURATION"), .text("REASON")])
        for gap in gaps {
            table.add(
                LocalTime.text(gap.start * 1000), LocalTime.text(endOf: gap.end * 1000, from: gap.start * 1000),
                DurationText.text((gap.end - gap.start) * 1000), text(gap))
        }
        let seconds = gaps.reduce(0) { $0 + max($1.end - $1.start, 0) }
        return table.lines(width: width) + [
            "", "\(Quantity.count(Int64(gaps.count), "gap")), \(DurationText.text(seconds * 1000))",
        ]
    }

    private struct Gap {
        let start: Int64
        let end: Int64
        let reason: String
        let detail: String?
        let lost: Int64?

        init(_ gap: JSONValue) {
            start = gap["start_time"]?.integerValue?.clamped ?? 0
            end = gap["end_time"]?.integerValue?.clamped ?? 0
            reason = gap["reason"]?.stringValue ?? "other"
            detail = gap["detail"]?.stringValue
            lost = gap["lost_points"]?.integerValue?.clamped
        }
    }

    private static func text(_ gap: Gap) -> String {
        let detail = gap.detail.map { " " + (details["\(gap.reason) \($0)"] ?? "(\($0))") } ?? ""
        let reason = (reasons[gap.reason] ?? gap.reason) + detail
        return gap.lost.map { "\(reason): \(Quantity.count($0, "point"))" } ?? reason
    }

    private static let details = [
        "off stop": "(stopped in order)", "off shutdown": "(the computer was shut down)",
        "off crash": "(killed or crashed)", "off power_cut": "(the computer lost power, or hung)",
        "stopped person": "by a person", "stopped hook": "by a hook",
        "stopped server": "because the server refused the start",
    ]

    private static let reasons = [
        "no_fix": "no fix", "no_receiver": "no receiver, or no gpsd", "stopped": "gathering was stopped",
        "not_started": "the service was not started yet", "other_entity": "ran as another entity",
        "parked": "parked", "off": "the agent was off", "inaccurate": "fixes were too inaccurate",
        "unmoved": "not moved by the distance filter", "implausible": "fixes were implausible",
        "doubtful_time": "fixes had a doubtful date", "cache_full": "dropped, the cache was full",
        "cleared": "cleared by a person", "disk_trouble": "lost by the vehicle's disk",
        "refused": "refused by the server", "lost": "points are lost", "not_uploaded": "not uploaded yet",
    ]
}

extension LocalTime {
    /// The end of a time beside its begin, which names the zone. Summer time may have ended between them: then the end names its own.
    fileprivate static func text(endOf milliseconds: Int64, from start: Int64) -> String {
        let (begin, end, bare) = (text(start), text(milliseconds), textWithoutZone(milliseconds))
        return begin.dropFirst(bare.count) == end.dropFirst(bare.count) ? bare : end
    }
}
