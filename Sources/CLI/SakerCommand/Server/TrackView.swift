import JSON

/// Shows the points of the server's answers to a person.
enum TrackView {
    static func latest(_ point: JSONValue?, entity: String, now: Int64) -> [String] {
        guard let point, let time = point["loc_time"]?.integerValue, time > 0 else {
            return ["\(entity.printable) has no point yet."]
        }
        var table = TextTable()
        table.add("Entity", entity)
        table.add("Place", place(point))
        table.add("Time", time < Int64.max / 1000 ? TimeText.both(time * 1000, now: now) : String(time))
        for (title, text) in details(point) { table.add(title, text) }
        return table.lines
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
        "floor", "object_name", "road_grade", "road_name", "locate_mode", "transport_mode", "_supplement",
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

    // Columns have a width of their own, not of what is in them: pages are printed as they come.
    private static let widths = [25, 12, 13, 7, 6, 7, 8]

    static var header: String {
        row(["TIME", "LATITUDE", "LONGITUDE", "KM/H", "COURSE", "ALT M", "ACC M", "ATTRIBUTES"])
    }

    private static func row(_ cells: [String]) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let cell = cell.printable
            let width = index < widths.count ? widths[index] : 0
            let space = String(repeating: " ", count: max(width - DisplayWidth.columns(cell), 0))
            line += (index == 0 ? cell + space : "  " + (index < widths.count ? space + cell : cell))
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    static func line(_ point: JSONValue) -> String {
        func number(_ key: String, _ places: Int) -> String {
            point[key]?.doubleValue.map { Quantity.decimal($0, places) } ?? ""
        }
        let time = point["loc_time"]?.integerValue ?? 0
        return row([
            time.magnitude < UInt64(Int64.max / 1000) ? TimeText.local(time * 1000) : String(time),
            number("latitude", 6), number("longitude", 6), number("speed", 1), number("direction", 0),
            number("height", 0), number("radius", 1),
            attributes(point).map { "\($0.key)=\($0.value.stringValue ?? $0.value.description)" }.joined(
                separator: " "),
        ])
    }

    /// The sum of several answers.
    struct History {
        private var points: Int64 = 0
        private var metres = 0.0

        mutating func add(_ answer: JSONValue, isFirstPage: Bool) -> [String] {
            let page = answer["points"]?.arrayValue ?? []
            points += Int64(page.count)
            // The distance is that of all pages of the range.
            if isFirstPage { metres += answer["distance"]?.doubleValue ?? 0 }
            return page.map(TrackView.line)
        }

        var summary: String {
            points == 0 ? "No points in this time." : "\(Quantity.count(points, "point")), \(Quantity.distance(metres))"
        }
    }
}
