import TrackModel

/// The columns of format 3: what agents say about the time before their points.
enum ContinuityColumns {
    static func write(_ points: [TrackPoint], to columns: inout ColumnWriter) {
        columns.optionalColumn(points.map { $0.continuity.map { Int64($0.interval) } }, .gatherInterval)
        let counts = points.map { $0.continuity?.spans.count ?? 0 }
        columns.optionalColumn(counts.map { $0 > 0 ? Int64($0) : nil }, .spanCount)
        guard counts.contains(where: { $0 > 0 }) else { return }
        var (reasons, ages, lengths, losses) = ([Int64](), [Int64](), [Int64?](), [Int64?]())
        for point in points {
            for span in point.continuity?.spans ?? [] {
                reasons.append(Int64(span.reason.rawValue))
                ages.append(point.fix.time.milliseconds &- span.until.milliseconds)
                lengths.append(span.from.map { max(0, span.until.milliseconds(since: $0)) })
                losses.append(span.lostPoints)
            }
        }
        columns.column(reasons, .gapReason)
        columns.column(ages, .gapAge)
        columns.optionalColumn(lengths, .gapLength)
        columns.optionalColumn(losses, .lostPoints)
    }

    /// `points` have their times. The number of spans is bounded by ``Continuity/maximumSpans`` for each point.
    static func read(into points: inout some DecodedPoints, from columns: inout ColumnReader) throws(WireError) {
        let intervals = try columns.optionalColumn(rows: points.count, .gatherInterval, "gather interval")
        let counts = try columns.optionalColumn(rows: points.count, .spanCount, "number of gaps")
        let total = counts.reduce(0) { $1 == ColumnReader.absent ? $0 : $0 + Int($1) }
        let reasons = try columns.column(rows: total, .gapReason, "gap reason")
        let ages = try columns.column(rows: total, .gapAge, "age of a gap")
        let lengths = try columns.optionalColumn(rows: total, .gapLength, "length of a gap")
        let losses = try columns.optionalColumn(rows: total, .lostPoints, "lost points")
        var next = 0
        for row in 0..<points.count {
            let count = counts[row] == ColumnReader.absent ? 0 : Int(counts[row])
            guard let interval = Int32(exactly: intervals[row]) else {
                guard count == 0 else { throw ColumnReader.malformed("number of gaps") }
                continue
            }
            guard count > 0 else {
                points.setContinuity(Continuity(interval: interval), at: row)
                continue
            }
            let time = points.time(at: row).milliseconds
            let spans = (next..<next + count).map { index in
                let until = Timestamp(milliseconds: time &- ages[index])
                return GapSpan(
                    GapReason(rawValue: UInt8(clamping: reasons[index])),
                    from: lengths[index] == ColumnReader.absent
                        ? nil : Timestamp(milliseconds: until.milliseconds &- lengths[index]),
                    until: until, lostPoints: losses[index] == ColumnReader.absent ? nil : losses[index])
            }
            next += count
            points.setContinuity(Continuity(interval: interval, spans: spans), at: row)
        }
    }
}
