import JSON
import TrackAnalysis
import TrackModel
import TrackStore

/// The gaps of a track in a range: what `gap_content` asks for, an addition to the published API.
struct GapReading: Sendable {
    let gaps: [TrackGap]
}

extension GapReading {
    init(_ range: TrackRange, _ call: APICall, _ store: any PointStore & EntityStore) async throws {
        let limit = range.limit(call.options.maximumRawPoints, call.options)
        let points = try await range.read(call, store, limit: limit).points.lazy.map(\.point)
        let latest = try await store.entity(named: range.entity.text, in: range.service)?.latest?.point
        let next = try await Self.pointAfter(range, upTo: latest?.fix.time, call, store)
        var finder = GapFinder()
        // Only the point before tells where a gap without a known beginning begins, however near to its end the range begins.
        var isNew = false
        if let first = points.first(where: { $0.continuity != nil }) ?? next, first.fix.time > range.from {
            if let before = try await Self.pointBefore(range, call, store) {
                finder.add(before)
            } else {
                isNew = try await !store.hasPoints(before: range.from, of: range.entity.text, in: range.service)
            }
        }
        for point in points { finder.add(point) }
        if let next { finder.add(next) }
        var gaps = isNew ? finder.gaps.filter(\.hasKnownStart) : finder.gaps
        // Without a later point the vehicle has not told yet.
        let last =
            finder.last
            ?? latest.flatMap { point in
                point.continuity.map { (point.fix.time, $0.tolerance) }
            }
        if next == nil, let last, last.time < call.now, call.now.milliseconds(since: last.time) > last.tolerance {
            gaps.append(TrackGap(.notUploaded, from: last.time, until: call.now))
        }
        // Whole seconds, as everywhere in the API.
        let end = Timestamp(seconds: range.through.seconds)
        self.gaps = Self.joined(gaps.compactMap { $0.clipped(from: range.from, until: end) })
            .filter { $0.from.seconds < $0.until.seconds }
    }

    /// A parked vehicle makes a point now and then: the time is one gap for people.
    private static func joined(_ gaps: [TrackGap]) -> [TrackGap] {
        var joined: [TrackGap] = []
        for gap in gaps {
            if let last = joined.last, last.reason == gap.reason, last.until == gap.from, last.lostPoints == nil,
                gap.lostPoints == nil
            {
                joined[joined.count - 1].until = gap.until
            } else {
                joined.append(gap)
            }
        }
        return joined
    }

    /// The first gathered point after the range; nil when there is none up to `end`.
    private static func pointAfter(
        _ range: TrackRange, upTo end: Timestamp?, _ call: APICall, _ store: any PointStore
    ) async throws -> TrackPoint? {
        guard let end else { return nil }
        let found = try await store.gatheredPoint(
            from: range.through.adding(milliseconds: 1), through: end, of: range.entity.text, in: range.service,
            limit: call.options.maximumRawPoints)
        call.note(found.holes)
        return found.point
    }

    /// The last gathered point before the range; nil when there is none, or when it is long ago.
    private static func pointBefore(
        _ range: TrackRange, _ call: APICall, _ store: any PointStore
    ) async throws -> TrackPoint? {
        let found = try await store.gatheredPoint(
            before: range.from, of: range.entity.text, in: range.service, limit: call.options.maximumRawPoints)
        call.note(found.holes)
        return found.point
    }

    func write(to object: inout JSONWriter) { object.gaps(gaps) }
}

extension JSONWriter {
    /// The member `gaps`.
    mutating func gaps(_ gaps: [TrackGap]) {
        array("gaps") { list in
            for gap in gaps {
                list.object {
                    $0.member("start_time", gap.from.seconds)
                    $0.member("end_time", gap.until.seconds)
                    $0.member("reason", gap.reason.name)
                    if let detail = gap.reason.detail { $0.member("detail", detail) }
                    if let lost = gap.lostPoints { $0.member("lost_points", lost) }
                }
            }
        }
    }
}
