import AgentControl
import Terminal

/// The server's fences in the status.
enum ServerFencesView {
    /// Nothing while there is no fence and no trouble.
    static func rows(_ status: AgentStatus) -> [(String, [String])] {
        guard let fences = status.fences?.server else { return [] }
        let lines = set(fences, now: status.time) + troubles(fences) + alarms(fences, now: status.time)
        return [("Server fences", lines)]
    }

    private static func set(_ fences: ServerFencesStatus, now: Int64) -> [String] {
        guard fences.version > 0 else { return ["none yet"] }
        var lines = ["\(Quantity.count(fences.kept, "fence")), inside \(Quantity.count(fences.inside))"]
        if let time = fences.changedTime {
            lines.append("version \(fences.version), changed \(TimeText.both(time, now: now))")
        }
        if let metres = fences.completeWithin {
            lines.append("only the nearest ones: all within \(Quantity.distance(Double(metres)))")
        }
        if let count = fences.notJudged, count > 0 {
            let reasons = fences.notJudgedReasons.map { ": " + $0.joined(separator: "; ") } ?? ""
            lines.append("\(Quantity.count(count)) judged by the server alone\(reasons)")
        }
        if fences.sent == false { lines.append("the server sends no fences: its version does not know how") }
        return lines
    }

    private static func troubles(_ fences: ServerFencesStatus) -> [String] {
        var lines: [String] = []
        if let error = fences.lastError { lines.append("THE NEWEST UPDATE IS NOT IN USE: \(error)") }
        if let error = fences.fileError {
            lines.append("not read from the disk, the server sends them again: \(error)")
        }
        if fences.remembered.state == .failing {
            lines.append(
                "not on the disk, and a restart goes on with an earlier set: "
                    + (fences.remembered.lastError ?? "the disk refuses writes"))
        }
        return lines
    }

    private static func alarms(_ fences: ServerFencesStatus, now: Int64) -> [String] {
        var parts: [String] = []
        if fences.alarms > 0 || fences.confirmed > 0 {
            parts.append(
                "\(Quantity.count(fences.alarms, "early alarm")) since the start, \(Quantity.count(fences.confirmed)) confirmed"
            )
        }
        if let waiting = fences.confirmationsWaiting, waiting > 0 {
            parts.append("\(Quantity.count(waiting)) wait for the server's word")
        }
        if fences.unconfirmed > 0 { parts.append("\(Quantity.count(fences.unconfirmed)) NOT CONFIRMED in time") }
        var lines = parts.isEmpty ? [] : [parts.joined(separator: ", ")]
        if fences.reportsWaiting > 0 {
            let since = fences.reportsWaitingSince.map { ", no answer since \(TimeText.both($0, now: now))" } ?? ""
            let elsewhere = fences.reportsElsewhere.flatMap { count in
                count > 0 ? ", \(Quantity.count(count)) of them for another entity or service" : nil
            }
            lines.append(
                "\(Quantity.count(fences.reportsWaiting, "report")) to the server waiting\(elsewhere ?? "")\(since)")
        }
        return lines
    }
}
