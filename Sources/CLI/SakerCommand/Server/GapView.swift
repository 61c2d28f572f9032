import JSON
import Terminal

/// Shows the gaps of a track to a person.
enum GapView {
    static func lines(_ gaps: [JSONValue], width: Int? = nil) -> [String] {
        let gaps = GapJoin.joined(gaps).map(Gap.init)
        guard !gaps.isEmpty else { return ["No gap in this time."] }
        var table = TextTable(["FROM", TextTable.Column("TO", rank: 1), .number("DURATION"), .text("REASON")])
        for gap in gaps {
            table.add(
                TimeText.local(gap.start * 1000), TimeText.local(endOf: gap.end * 1000, from: gap.start * 1000),
                TimeText.duration((gap.end - gap.start) * 1000), text(gap))
        }
        let seconds = gaps.reduce(0) { $0 + max($1.end - $1.start, 0) }
        return table.lines(width: width) + [
            "", "\(Quantity.count(Int64(gaps.count), "gap")), \(TimeText.duration(seconds * 1000))",
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
