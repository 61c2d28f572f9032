import AgentControl
import FenceCommands
import FenceJSON
import Geodesy
import Geofencing
import JSON
import Terminal
import TrackModel

/// Fences for people.
enum FenceView {
    static func table(_ fences: [LocalFenceReport], width: Int? = nil) -> [String] {
        guard !fences.isEmpty else { return ["No fences."] }
        var table = TextTable([
            .number("NUMBER"), .text("NAME"), .text("SHAPE", rank: 2), .text("TELLS"), .text("WATCHES", rank: 1),
            .text("GROUP", rank: 3),
        ])
        for fence in fences {
            guard let definition = definition(fence) else {
                table.add("\(fence.id)", "", "?")
                continue
            }
            table.add(
                "\(fence.id)", definition.name, shape(fence, definition), tells(definition, isShort: true),
                watches(definition), definition.group ?? "")
        }
        let troubles = fences.compactMap { fence in
            fence.trouble.map { "Fence \(fence.id) is not judged: \($0)".printable }
        }
        return table.lines(width: width)
            + (troubles.isEmpty ? [] : [""] + troubles.flatMap { TextFold.lines($0, width: width) })
    }

    /// Nil for a fence of a version that this program does not know.
    static func definition(_ fence: LocalFenceReport) -> FenceDefinition? {
        // A large shape is left out of lists.
        let none = ShapeDraft(.point(Degrees(latitude: 0, longitude: 0)))
        return try? FenceDefinition(json: fence.fence, shape: none)
    }

    private static func shape(_ fence: LocalFenceReport, _ definition: FenceDefinition) -> String {
        guard fence.fence["shape"] != nil else {
            return area(fence, definition)
        }
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

    private static func area(_ fence: LocalFenceReport, _ definition: FenceDefinition) -> String {
        definition.district.map { "district \($0)" } ?? "polygon of \(Quantity.count(fence.vertices)) vertices"
    }

    private static func metres(_ metres: Double) -> String { "\(Quantity.decimal(metres, 1, trimmed: true)) m" }

    private static func tells(_ definition: FenceDefinition, isShort: Bool = false) -> String {
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

    private static func watches(_ definition: FenceDefinition) -> String {
        if definition.watch.isEveryone { return "everyone" }
        if definition.watch.isNobody { return "nobody" }
        let names = definition.watch.entities.prefix(3).map(\.text)
        let rest = definition.watch.entities.count - names.count
        return names.joined(separator: ", ") + (rest > 0 ? " and \(Quantity.count(Int64(rest))) more" : "")
    }

    static func details(_ fence: LocalFenceReport, width: Int? = nil) -> [String] {
        guard let definition = definition(fence) else {
            return ["Fence \(fence.id): this program does not know all of it; --json shows it as it is."]
        }
        var table = TextTable.pairs
        func add(_ name: String, _ text: String?) {
            if let text { table.add("  \(name)", text) }
        }
        add("shape", shape(fence, definition))
        if fence.fence["shape"] != nil { add("place", place(definition.shape)) }
        add("district", definition.district)
        add("tells", tells(definition))
        add("watches", watches(definition))
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
        if let validity = definition.validity { addValidity(validity, add) }
        for reaction in definition.reactions {
            add(
                "on \(reaction.on.rawValue)",
                reaction.parameters + (reaction.isRemote ? ", told to the others, too" : ""))
        }
        if definition.isReported { add("report", "alarms go to the server, too") }
        if let origin = definition.origin {
            add("from", "\(origin.file)\(origin.layer.map { ", layer \($0)" } ?? ""), feature \(origin.feature)")
        }
        add("made", TimeText.local(fence.created))
        if fence.modified != fence.created { add("changed", TimeText.local(fence.modified)) }
        let name = definition.name.isEmpty ? "" : " '\(definition.name)'"
        let trouble = fence.trouble.map { ["  It is not judged: \($0)".printable] } ?? []
        return ["Fence \(fence.id)\(name), revision \(fence.revision)".printable] + trouble + table.lines(width: width)
    }

    private static func addValidity(_ validity: FenceValidity, _ add: (String, String?) -> Void) {
        let ends = [
            validity.from.map { "from \(TimeText.local($0.milliseconds))" },
            validity.through.map { "until \(TimeText.local($0.milliseconds))" },
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
