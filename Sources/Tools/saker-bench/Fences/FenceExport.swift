import Foundation
import Geodesy
import Geofencing
import TrackModel

/// Fences and points for a program that is no part of Saker, in the machine's byte order: the number of polygons; for each
/// its number of vertices and their longitudes and latitudes in degrees; the number of points; their longitudes and
/// latitudes.
enum FenceExport {
    static func write(_ plans: [FencePlan], _ tracks: [[FencePoint]], to path: String) throws {
        var data = Data()
        append(UInt64(plans.count), to: &data)
        for plan in plans {
            guard case .polygon(let polygon, _) = plan.shape.body else { continue }
            append(UInt64(polygon.vertices.count), to: &data)
            for vertex in polygon.vertices {
                append((Double(polygon.frame.westE7) + Double(vertex.x)) / 1e7, to: &data)
                append((Double(polygon.frame.southE7) + Double(vertex.y)) / 1e7, to: &data)
            }
        }
        append(UInt64(tracks.reduce(0) { $0 + $1.count }), to: &data)
        for point in tracks.joined() {
            append(point.place.longitude, to: &data)
            append(point.place.latitude, to: &data)
        }
        try data.write(to: URL(fileURLWithPath: path))
    }

    private static func append(_ value: some BitwiseCopyable, to data: inout Data) {
        withUnsafeBytes(of: value) { data.append(contentsOf: $0) }
    }
}
