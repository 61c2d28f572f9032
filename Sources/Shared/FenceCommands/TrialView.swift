internal import FenceFiles
internal import Geofencing
internal import JSON
internal import Terminal
internal import TrackModel

/// The result of a trial for people and for programs.
enum TrialView {
    static func lines(_ trial: TrackTrial, fences: Int, width: Int? = nil) -> [String] {
        var lines: [String] = []
        if !trial.rows.isEmpty {
            var table = TextTable([
                "TIME", "ACTION", .number("FENCE"), .text("NAME"), TextTable.Column("PLACE", rank: 2),
                .text("DETAIL", rank: 1),
            ])
            for row in trial.rows {
                let place = row.crossing.place
                table.add(
                    LocalTime.text(row.crossing.time.milliseconds), row.action.rawValue, "\(row.fence)",
                    row.isGroup ? "group \(row.name)" : row.name, Quantity.place(place.latitude, place.longitude),
                    detail(row))
            }
            lines = table.lines(width: width) + [""]
        }
        let alarms = trial.rows.isEmpty ? "no alarm" : Quantity.count(Int64(trial.rows.count), "alarm")
        lines.append(
            "\(alarms.first?.uppercased() ?? "")\(alarms.dropFirst()) of \(Quantity.count(Int64(fences), "fence"))"
                + " along \(Quantity.count(Int64(trial.judged), "point")).")
        if trial.repeated > 0 {
            lines.append(
                "\(Quantity.count(Int64(trial.repeated), "point has", "points have")) the time of another one: the first counts."
            )
        }
        for fence in trial.notTried { lines.append("Fence \(fence.fence) was not tried: \(fence.reason).") }
        return lines.map(\.printable)
    }

    private static func detail(_ row: TrackTrial.Row) -> String {
        var parts: [String] = []
        if let inside = row.inside { parts.append("inside for \(DurationText.text(inside))") }
        if row.skipped > 0 { parts.append("\(Quantity.count(Int64(row.skipped), "stay")) before it not told") }
        let crossing = row.crossing
        if !crossing.isEstimated, crossing.earliest < crossing.latest, row.action != .stay {
            parts.append("not before \(LocalTime.text(crossing.earliest.milliseconds))")
        }
        return parts.joined(separator: ", ")
    }

    static func json(_ trial: TrackTrial) -> JSONValue {
        let alarms = trial.rows.map { row in
            let crossing = row.crossing
            var members: [String: JSONValue] = [
                "action": .string(row.action.rawValue), "fence_id": .integer(Int64(row.fence)),
                row.isGroup ? "group" : "fence_name": .string(row.name), "time": .integer(row.time.milliseconds),
                "crossing": [
                    "time": .integer(crossing.time.milliseconds), "latitude": .double(crossing.place.latitude),
                    "longitude": .double(crossing.place.longitude), "estimated": .bool(crossing.isEstimated),
                ],
            ]
            if let inside = row.inside { members["inside"] = .integer(inside) }
            if row.skipped > 0 { members["skipped"] = .integer(Int64(row.skipped)) }
            return JSONValue.object(members)
        }
        return [
            "alarms": .array(alarms), "points": .integer(Int64(trial.judged)),
            "repeated": .integer(Int64(trial.repeated)),
            "not_tried": .array(
                trial.notTried.map { ["fence_id": .integer(Int64($0.fence)), "reason": .string($0.reason)] }),
        ]
    }
}
