import JSON

/// Joins the gaps of several answers: the server cuts a gap at the end of each answer, and parts of a range overlap.
enum GapJoin {
    static func joined(_ gaps: [JSONValue]) -> [JSONValue] {
        var joined: [[String: JSONValue]] = []
        let sorted = gaps.compactMap(\.objectValue).enumerated().sorted {
            (time($0.element, "start_time"), $0.offset) < (time($1.element, "start_time"), $1.offset)
        }
        for (_, gap) in sorted {
            let same = joined.lastIndex { last in
                time(gap, "start_time") - time(last, "end_time") <= 1
                    && ["reason", "detail", "lost_points"].allSatisfy { last[$0] == gap[$0] }
            }
            if let same {
                if time(gap, "end_time") > time(joined[same], "end_time") { joined[same]["end_time"] = gap["end_time"] }
            } else {
                joined.append(gap)
            }
        }
        return joined.map { .object($0) }
    }

    private static func time(_ gap: [String: JSONValue], _ name: String) -> Int64 {
        gap[name]?.integerValue?.clamped ?? 0
    }
}
