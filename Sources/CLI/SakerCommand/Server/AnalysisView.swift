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
            table.add("Duration", TimeText.duration(seconds * 1000))
            table.add("Average", seconds > 0 ? Quantity.speed(metres / Double(seconds)) : "-")
            table.add("Fastest", fastest.map { Quantity.decimal($0, 1) + " km/h" } ?? "-")
            var lines = table.lines(width: width)
            if !events.isEmpty {
                var list = TextTable(["TIME", "EVENT", .text("DETAIL"), TextTable.Column("PLACE", rank: 1)])
                for event in events.sorted(by: { $0.time < $1.time }) {
                    list.add(TimeText.local(event.time.clamped * 1000), event.name, event.detail, event.place)
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
        TimeText.local((value[key]?.integerValue ?? 0).clamped * 1000)
    }

    /// The end, or that the range ended first.
    private static func end(_ value: JSONValue) -> String {
        ["end", "both"].contains(value["open"]?.stringValue)
            ? "goes on"
            : TimeText.local(
                endOf: (value["end_time"]?.integerValue ?? 0).clamped * 1000,
                from: (value["start_time"]?.integerValue ?? 0).clamped * 1000)
    }

    private static func duration(_ value: JSONValue) -> String {
        TimeText.duration((value["duration"]?.integerValue ?? 0).clamped * 1000)
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
