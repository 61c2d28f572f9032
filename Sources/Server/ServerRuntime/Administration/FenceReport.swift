import FenceJSON
import Geodesy
package import Geofencing
import JSON
import TrackModel
import TrackStore

/// A fence as an administrator is told of it.
package struct FenceReport: Sendable {
    let record: FenceRecord

    init(_ record: FenceRecord) {
        self.record = record
    }

    package var fence: Fence { record.fence }
    package var number: Int32 { record.fence.id }
    package var revision: Int32 { record.fence.revision }
    package var name: String { record.fence.definition.name }

    /// In a few words.
    package var shape: String {
        let shape = record.fence.definition.shape
        let district = record.fence.definition.district.map { "district \($0)" }
        let text =
            switch shape.outline {
            case .circle(_, let radius): "circle of \(Self.metres(radius))"
            case .polygon(let parts):
                district ?? "polygon of \(parts.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }) vertices"
            case .corridor(let line, let offset): "corridor of \(line.count) vertices, \(Self.metres(offset))"
            case .point: "point"
            }
        return text + (shape.buffer > 0 ? ", buffer \(Self.metres(shape.buffer))" : "")
    }

    /// In a few words.
    package var watch: String {
        let watch = record.fence.definition.watch
        if watch.isEveryone { return "everyone" }
        if watch.entities.count == 1, let only = watch.entities.first { return only.text }
        return watch.isNobody ? "nobody" : "\(watch.entities.count) entities"
    }

    package var modified: String { TimeText.universal(record.fence.modified) }

    /// Everything but the vertices: what it is called, and what it is.
    package var lines: [(label: String, text: String)] {
        let definition = record.fence.definition
        var lines = [("Fence", String(number)), ("Name", name), ("Shape", shape)]
        if let district = definition.district { lines.append(("District", district)) }
        lines.append(("Watches", watched))
        if let since = record.everyoneSince { lines.append(("Since", TimeText.universal(since))) }
        lines.append(("Made", TimeText.universal(record.fence.created)))
        lines.append(("Changed", "\(modified), revision \(record.fence.revision)"))
        var rules = definition.rules
        for shown in ["name", "district", "watch"] { rules[shown] = nil }
        lines.append(("Rules", rules.isEmpty ? "enter and exit, as usual" : JSONValue.object(rules).description))
        return lines
    }

    /// With names, as far as a person reads on.
    private var watched: String {
        let entities = record.fence.definition.watch.entities
        guard entities.count > 1 else { return watch }
        let more = entities.count > 50 ? " and \(entities.count - 50) more" : ""
        return entities.prefix(50).map(\.text).joined(separator: ", ") + more
    }

    private static func metres(_ value: Double) -> String {
        (Int64(exactly: value).map(String.init) ?? String(value)) + " m"
    }
}
