package import Geofencing
internal import JSON
package import TrackModel

/// Which alarms fences would have made of a recorded track: nothing is remembered, and nobody is told.
///
/// Every fence is tried as if it had been there before the first point, whomever it watches. So fences of a file can be tried
/// before anybody makes them.
package struct TrackTrial: Hashable, Sendable {
    /// An alarm that would have been told.
    package struct Row: Hashable, Sendable {
        /// Of the point that proves it.
        package let time: Timestamp
        package let entity: String
        /// The number of the fence.
        package let fence: Int32
        /// The name of the fence; of its group in a group's alarm.
        package let name: String
        package let isGroup: Bool
        package let action: FenceAction
        package let crossing: Crossing
        /// Milliseconds inside, at exit and stay.
        package let inside: Int64?
        /// Stays that were due before this one and are not told.
        package let skipped: Int
    }

    /// A fence that cannot be tried, and why.
    package struct NotTried: Hashable, Sendable {
        package let fence: Int32
        package let reason: String
    }

    /// In the order in which the alarms would have been told.
    package let rows: [Row]
    /// Points that were judged.
    package let judged: Int
    /// Points at the time of another one: the first of them counts.
    package let repeated: Int
    package let notTried: [NotTried]
    /// The judged points' places, in the order of their times.
    let track: [FencePoint]
    let fences: [Fence]

    /// The points may be in any order. `zones` says what the names of time zones in weekly windows stand for.
    package init(
        of points: [FencePoint], entity: String, by fences: [Fence], zones: [String: ZoneOffsets] = [:]
    ) {
        var (plans, names, notTried): ([FencePlan], [Int32: Fence], [NotTried]) = ([], [:], [])
        for fence in fences {
            var zone: ZoneOffsets?
            if case .named(let name)? = fence.definition.validity?.zone { zone = zones[name] }
            do throws(FenceError) {
                plans.append(try fence.plan(from: Timestamp(milliseconds: .min), zone: zone))
                names[fence.id] = fence
            } catch {
                notTried.append(NotTried(fence: fence.id, reason: error.description))
            }
        }
        let trial = FenceTrial(of: points, by: plans)
        rows = trial.alarms.map { alarm in
            let definition = names[alarm.fence]?.definition
            let name = alarm.group == nil ? definition?.name : definition?.group
            return Row(
                time: alarm.point.time, entity: entity, fence: alarm.fence, name: name ?? "",
                isGroup: alarm.group != nil, action: alarm.action, crossing: alarm.crossing, inside: alarm.inside,
                skipped: alarm.skipped)
        }
        (judged, repeated, self.notTried) = (trial.judged, trial.repeated, notTried)
        var last: Timestamp?
        let ordered = points.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        track = ordered.map(\.element).filter { point in
            defer { last = point.time }
            return point.time != last
        }
        self.fences = fences
    }
}

extension TrackTrial {
    /// A FeatureCollection (RFC 7946): the track as a line, then the fences as ``FenceGeoJSON`` writes them, then the crossings
    /// as points with what their alarms say. Times are in milliseconds since 1970.
    package var geoJSON: [UInt8] {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        writer.object {
            $0.member("type", "FeatureCollection")
            $0.array("features") {
                if let first = track.first, let last = track.last { writeTrack(from: first, to: last, &$0) }
                for fence in fences { FenceGeoJSON.write(fence, to: &$0) }
                for row in rows { write(row, to: &$0) }
            }
        }
        return writer.bytes
    }

    private func writeTrack(from first: FencePoint, to last: FencePoint, _ writer: inout JSONWriter) {
        writer.object {
            $0.member("type", "Feature")
            $0.object("geometry") {
                // A line has two places.
                $0.member("type", track.count == 1 ? "Point" : "LineString")
                $0.name("coordinates")
                if track.count == 1 {
                    Self.write(first.place, to: &$0)
                } else {
                    $0.array { for point in track { Self.write(point.place, to: &$0) } }
                }
            }
            $0.object("properties") {
                $0.member("kind", "track")
                $0.member("from", first.time.milliseconds)
                $0.member("through", last.time.milliseconds)
                $0.member("points", Int64(judged))
            }
        }
    }

    private func write(_ row: Row, to writer: inout JSONWriter) {
        writer.object {
            $0.member("type", "Feature")
            $0.object("geometry") {
                $0.member("type", "Point")
                $0.name("coordinates")
                Self.write(row.crossing.place, to: &$0)
            }
            $0.object("properties") {
                $0.member("kind", "alarm")
                $0.member("action", row.action.rawValue)
                $0.member("entity", row.entity)
                $0.member(row.isGroup ? "group" : "name", row.name)
                $0.member("fence_id", Int64(row.fence))
                $0.member("crossing_time", row.crossing.time.milliseconds)
                $0.name("estimated")
                $0.bool(row.crossing.isEstimated)
                $0.member("point_time", row.time.milliseconds)
                if let inside = row.inside { $0.member("inside", inside) }
                if row.skipped > 0 { $0.member("skipped", Int64(row.skipped)) }
            }
        }
    }

    private static func write(_ place: Coordinate, to writer: inout JSONWriter) {
        writer.array {
            $0.double(place.longitude)
            $0.double(place.latitude)
        }
    }
}
