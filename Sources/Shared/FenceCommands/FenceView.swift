internal import Geodesy
package import Geofencing
package import Terminal
internal import TrackModel

/// A fence as people see it, whoever has it: a vehicle or a service.
package struct ShownFence: Sendable {
    package var number: Int64
    package var revision: Int64
    /// Nil for a fence of a version that this program does not know.
    package var definition: FenceDefinition?
    /// False: the shape is too large to be told, and `definition` has none.
    package var hasShape = true
    package var vertices: Int64
    /// Milliseconds since 1970.
    package var created: Int64
    package var modified: Int64
    /// Since when it watches everyone; nil: it is not told.
    package var since: Int64?
    /// Why it is not judged; nil when it is.
    package var trouble: String?

    package init(
        number: Int64, revision: Int64, definition: FenceDefinition?, vertices: Int64, created: Int64, modified: Int64
    ) {
        (self.number, self.revision, self.definition) = (number, revision, definition)
        (self.vertices, self.created, self.modified) = (vertices, created, modified)
    }

    private static let unknown = "?"

    /// In a few words.
    package var shape: String { definition.map { FenceView.shape(self, $0) } ?? Self.unknown }
    package var tells: String { definition.map { FenceView.tells($0, isShort: true) } ?? "" }
    package var watches: String { definition.map { FenceView.watches($0, most: 3) } ?? "" }
    package var name: String { definition?.name ?? "" }
    package var group: String { definition?.group ?? "" }
}

/// Fences for people.
package enum FenceView {
    package static func table(_ fences: [ShownFence], width: Int? = nil) -> [String] {
        guard !fences.isEmpty else { return ["No fences."] }
        var table = TextTable(columns)
        for fence in fences {
            table.add("\(fence.number)", fence.name, fence.shape, fence.tells, fence.watches, fence.group)
        }
        let troubles = fences.compactMap { fence in
            fence.trouble.map { "Fence \(fence.number) is not judged: \($0)".printable }
        }
        return table.lines(width: width)
            + (troubles.isEmpty ? [] : [""] + troubles.flatMap { TextFold.lines($0, width: width) })
    }

    /// Of a table: the number, the name, the shape, what it tells, whom it watches, and its group.
    package static let columns: [TextTable.Column] = [
        .number("NUMBER"), .text("NAME"), .text("SHAPE", rank: 2), .text("TELLS"), .text("WATCHES", rank: 1),
        .text("GROUP", rank: 3),
    ]

    fileprivate static func shape(_ fence: ShownFence, _ definition: FenceDefinition) -> String {
        guard fence.hasShape else { return area(fence, definition) }
        let draft = definition.shape
        let around = draft.buffer > 0 ? " and \(metres(draft.buffer)) around it" : ""
        switch draft.outline {
        case .circle(_, let radius): return "circle of \(metres(radius))\(around)"
        case .point: return "circle of \(metres(draft.buffer))"
        case .corridor(_, let offset): return "corridor of \(metres(offset))\(around)"
        case .polygon:
            return area(fence, definition) + around
        }
    }

    private static func area(_ fence: ShownFence, _ definition: FenceDefinition) -> String {
        definition.district.map { "district \($0)" } ?? "polygon of \(Quantity.count(fence.vertices)) vertices"
    }

    private static func metres(_ metres: Double) -> String { "\(Quantity.decimal(metres, 1, trimmed: true)) m" }

    fileprivate static func tells(_ definition: FenceDefinition, isShort: Bool = false) -> String {
        var parts: [String] = []
        if definition.rule.contains(.enter) { parts.append("enter") }
        if definition.rule.contains(.exit) { parts.append("exit") }
        if definition.rule.contains(.stay), let stay = definition.stay {
            let every = stay.every.map { isShort ? "/\($0) s" : " and every \($0) s" } ?? ""
            parts.append(isShort ? "stay \(stay.after) s\(every)" : "stay after \(stay.after) s\(every)")
        }
        if let limit = definition.speedLimit {
            let span = limit.duration > 0 && !isShort ? " for \(limit.duration) s" : ""
            parts.append("over \(Quantity.decimal(Double(limit.speed) * 0.036, 1, trimmed: true)) km/h\(span)")
        }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }

    fileprivate static func watches(_ definition: FenceDefinition, most: Int) -> String {
        if definition.watch.isEveryone { return "everyone" }
        if definition.watch.isNobody { return "nobody" }
        let names = definition.watch.entities.prefix(most).map(\.text)
        let rest = definition.watch.entities.count - names.count
        return names.joined(separator: ", ") + (rest > 0 ? " and \(Quantity.count(Int64(rest))) more" : "")
    }

    /// Everything of a fence but its vertices. `time`: how times are written, from milliseconds since 1970.
    package static func details(
        _ fence: ShownFence, width: Int? = nil, time: (Int64) -> String = LocalTime.text
    ) -> [String] {
        guard let definition = fence.definition else {
            return ["Fence \(fence.number): this program does not know all of it; --json shows it as it is."]
        }
        var table = TextTable.pairs
        func add(_ name: String, _ text: String?) {
            if let text { table.add("  \(name)", text) }
        }
        add("shape", shape(fence, definition))
        if fence.hasShape { add("place", place(definition.shape)) }
        add("district", definition.district)
        add("tells", tells(definition))
        add("watches", watches(definition, most: 50))
        add("since", fence.since.map(time))
        add("group", definition.group)
        if definition.settle > 0 { add("settles", "in \(definition.settle) s") }
        if definition.isInitialTold { add("initial", "tells an enter when first seen inside") }
        add(
            "through",
            definition.through.map { $0 ? "tells a visit between two points" : "tells no visit between two points" })
        if definition.crossingGap != 120 { add("crossing gap", "\(definition.crossingGap) s") }
        if definition.denoise > 0 {
            add("denoise", "judges points with an accuracy of \(definition.denoise) m or better")
        }
        add("floor", definition.floor)
        if let altitude = definition.altitude {
            let ends = [
                altitude.lower.map { "from \(metres(Double($0) / 10))" },
                altitude.upper.map { "up to \(metres(Double($0) / 10))" },
            ]
            add("altitude", ends.compactMap(\.self).joined(separator: " "))
        }
        if let validity = definition.validity { addValidity(validity, time, add) }
        for reaction in definition.reactions {
            add(
                "on \(reaction.on.rawValue)",
                reaction.parameters + (reaction.isRemote ? ", told to the others, too" : ""))
        }
        if definition.isReported { add("report", "alarms go to the server, too") }
        if let origin = definition.origin {
            add("from", "\(origin.file)\(origin.layer.map { ", layer \($0)" } ?? ""), feature \(origin.feature)")
        }
        add("made", time(fence.created))
        if fence.modified != fence.created { add("changed", time(fence.modified)) }
        let name = definition.name.isEmpty ? "" : " '\(definition.name)'"
        let trouble = fence.trouble.map { ["  It is not judged: \($0)".printable] } ?? []
        return ["Fence \(fence.number)\(name), revision \(fence.revision)".printable] + trouble
            + table.lines(width: width)
    }

    private static func addValidity(
        _ validity: FenceValidity, _ time: (Int64) -> String, _ add: (String, String?) -> Void
    ) {
        let ends = [
            validity.from.map { "from \(time($0.milliseconds))" },
            validity.through.map { "until \(time($0.milliseconds))" },
        ].compactMap(\.self)
        if !ends.isEmpty { add("valid", ends.joined(separator: " ")) }
        if !validity.windows.isEmpty {
            add(
                "hours",
                validity.windows.map(WindowText.text).joined(separator: "; ") + " (\(ZoneText.text(validity.zone)))")
        }
    }

    private static func place(_ draft: ShapeDraft) -> String {
        let places: [Degrees] =
            switch draft.outline {
            case .circle(let centre, _): [centre]
            case .point(let place): [place]
            case .corridor(let line, _): line
            case .polygon(let parts): parts.first?.first ?? []
            }
        var text = places.prefix(4).map { Quantity.place($0.latitude, $0.longitude) }.joined(separator: "; ")
        if places.count > 4 { text += "; …" }
        switch draft.datum {
        case .wgs84: return text
        case .gcj02: return text + " (GCJ-02)"
        case .bd09: return text + " (BD-09)"
        }
    }
}
