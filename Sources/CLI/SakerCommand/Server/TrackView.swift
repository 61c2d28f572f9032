import JSON
import Terminal

/// Shows the points of the server's answers to a person.
enum TrackView {
    /// The answer of `track/getlatestpoint`.
    static func latest(_ answer: JSONValue, entity: String, now: Int64, width: Int? = nil) -> [String] {
        guard let point = answer["latest_point"], let time = point["loc_time"]?.integerValue, time > 0 else {
            return ["\(entity.printable) has no point yet."]
        }
        var table = TextTable.pairs
        table.add("Entity", entity)
        table.add("Place", place(point))
        table.add("Time", time < Int64.max / 1000 ? LocalTime.both(time * 1000, now: now) : String(time))
        for (title, text) in details(point) { table.add(title, text) }
        if let limit = answer["limit_speed"]?.doubleValue, limit > 0 {
            table.add("Limit", Quantity.decimal(limit, 0) + " km/h")
        }
        return table.lines(width: width)
    }

    private static func details(_ point: JSONValue) -> [(String, String)] {
        [
            ("Speed", point["speed"]?.doubleValue.map { Quantity.decimal($0, 1) + " km/h" }),
            ("Course", point["direction"]?.doubleValue.map { Quantity.decimal($0, 0) + "°" }),
            ("Altitude", point["height"]?.doubleValue.map { Quantity.decimal($0, 0) + " m" }),
            ("Accuracy", point["radius"]?.doubleValue.map { "±\(Quantity.decimal($0, 1)) m" }),
        ].compactMap { title, text in text.map { (title, $0) } }
            + attributes(point).map { ($0.key, $0.value.stringValue ?? $0.value.description) }
    }

    /// Members of a point that this program shows in a column, or not at all.
    private static let known: Set<String> = [
        "loc_time", "latitude", "longitude", "speed", "direction", "height", "radius", "create_time", "coord_type",
        "object_name", "road_grade", "locate_mode", "transport_mode",
    ]

    static func attributes(_ point: JSONValue) -> [(key: String, value: JSONValue)] {
        (point.objectValue ?? [:]).filter { !known.contains($0.key) }.sorted { $0.key < $1.key }
    }

    private static func place(_ point: JSONValue) -> String {
        guard let latitude = point["latitude"]?.doubleValue, let longitude = point["longitude"]?.doubleValue else {
            return "?"
        }
        return Quantity.place(latitude, longitude)
    }

    /// The list of points. Columns have a width of their own, not of what is in them: pages are printed as they come.
    struct Points {
        private let columns: [(title: String, width: Int)]
        /// Nil: the attributes stand behind the other columns; otherwise below them.
        private let width: Int?

        private static let all = [
            ("TIME", 25), ("LATITUDE", 10), ("LONGITUDE", 11), ("KM/H", 5), ("COURSE", 6), ("ALT M", 5), ("ACC M", 5),
        ]

        /// `width`: columns of the terminal; nil: no bound. The last columns are left out first.
        init(width: Int?) {
            self.width = width
            var columns = Self.all[...]
            while let width, columns.count > 3, columns.reduce(-2, { $0 + $1.1 + 2 }) > width { columns.removeLast() }
            self.columns = columns.map { (title: $0.0, width: $0.1) }
        }

        var header: String {
            row(columns.map(\.title) + (width == nil ? ["ATTRIBUTES"] : []))
        }

        func lines(_ point: JSONValue) -> [String] {
            func number(_ key: String, _ places: Int) -> String {
                point[key]?.doubleValue.map { Quantity.decimal($0, places) } ?? ""
            }
            let time = point["loc_time"]?.integerValue ?? 0
            let cells = [
                time.magnitude < UInt64(Int64.max / 1000) ? LocalTime.text(time * 1000) : String(time),
                number("latitude", 6), number("longitude", 6), number("speed", 1), number("direction", 0),
                number("height", 0), number("radius", 1),
            ].prefix(columns.count)
            let attributes = TrackView.attributes(point)
                .map { "\($0.key)=\($0.value.stringValue ?? $0.value.description)" }.joined(separator: " ").printable
            guard let width, !attributes.isEmpty else { return [row(cells + [attributes])] }
            return [row(Array(cells))] + TextFold.lines(attributes, width: width, after: "    ")
        }

        private func row(_ cells: [String]) -> String {
            var line = ""
            for (index, cell) in cells.enumerated() {
                let cell = cell.printable
                let width = index < columns.count ? columns[index].width : 0
                let space = String(repeating: " ", count: max(width - DisplayWidth.columns(cell), 0))
                line += (index == 0 ? cell + space : "  " + (index < columns.count ? space + cell : cell))
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// `answer`: the first page. `slow`: what the slower part of the distance is called.
    static func summary(points: Int64, _ answer: JSONValue, _ slow: String) -> String {
        guard points > 0 else { return "No points in this time." }
        let part = answer["low_speed_distance"]?.doubleValue.map { ", \(Quantity.distance($0)) of it \(slow)" } ?? ""
        return "\(Quantity.count(points, "point")), \(Quantity.distance(answer["distance"]?.doubleValue ?? 0))\(part)"
    }

    /// What the processing left out, and why; nil when the first page does not say it.
    static func dropped(_ answer: JSONValue, width: Int? = nil) -> [String]? {
        guard let dropped = answer["dropped"]?.objectValue else { return nil }
        let reasons = dropped.mapValues { $0.integerValue ?? 0 }.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        guard !reasons.isEmpty else { return ["The processing left no point out."] }
        var lines = ["Left out:"]
        lines += reasons.map { "  \(Quantity.count($0.value, "point")): \(texts[$0.key] ?? $0.key.printable)" }
        let points = answer["dropped_points"]?.arrayValue ?? []
        guard !points.isEmpty else { return lines }
        var table = TextTable(["TIME", "PLACE", .text("REASON")])
        for point in points {
            table.add(
                LocalTime.text((point["loc_time"]?.integerValue ?? 0).clamped * 1000), place(point),
                point["_reason"]?.stringValue ?? "?")
        }
        return lines + [""] + table.lines(width: width)
    }

    private static let texts = [
        "radius": "the radius is over the limit (radius)", "zero": "at exactly 0, 0 (zero)",
        "excursion": "the vehicle cannot have been there (excursion)", "stop": "one of many points of a stop (stop)",
        "thinned": "on the way between its neighbours (thinned)",
    ]
}
