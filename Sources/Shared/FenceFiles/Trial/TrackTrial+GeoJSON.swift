internal import Geofencing
internal import JSON
internal import TrackModel

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
