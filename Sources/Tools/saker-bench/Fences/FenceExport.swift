import Foundation
import Geodesy
import Geofencing
import TrackModel

/// Fences, points and what is inside what for a program that is no part of Saker, in the machine's byte order: the number
/// of polygons; for each its number of vertices and their longitudes and latitudes; the number of points; for each its
/// longitude and latitude and its verdict: the sum of the marks of the polygons that it is in. Coordinates are whole 1e-7
/// degrees as Float64, so that another program computes with the same numbers.
enum FenceExport {
    static func write(_ plans: [FencePlan], _ set: FenceSet, _ tracks: [[FencePoint]], to path: String) throws {
        var data = Data()
        append(UInt64(plans.count), to: &data)
        var places: [Int32: UInt64] = [:]
        for (place, plan) in plans.enumerated() {
            guard case .polygon(let polygon, _) = plan.shape.body else { continue }
            places[plan.id] = UInt64(place)
            append(UInt64(polygon.vertices.count), to: &data)
            for vertex in polygon.vertices {
                append(Double(polygon.frame.westE7) + Double(vertex.x), to: &data)
                append(Double(polygon.frame.southE7) + Double(vertex.y), to: &data)
            }
        }
        append(UInt64(tracks.reduce(0) { $0 + $1.count }), to: &data)
        var judge = FenceJudge()
        for point in tracks.joined() {
            append(Double(point.place.longitudeE7), to: &data)
            append(Double(point.place.latitudeE7), to: &data)
            // Near a boundary an entity that nobody knows has no place before its third point.
            var (memory, alarms) = (EntityMemory(), [FenceAlarm]())
            for second in 0..<3 as Range<Int64> {
                let again = FencePoint(time: point.time.adding(milliseconds: second * 1000), place: point.place)
                _ = judge.judge(again, of: &memory, by: set, into: &alarms)
            }
            let inside = memory.pairs.lazy.filter { $0.place == .in }.compactMap { places[$0.fence] }
            append(inside.reduce(UInt64(0)) { $0 &+ mark($1) }, to: &data)
        }
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// Another number for each polygon, so that a sum tells which they are.
    private static func mark(_ place: UInt64) -> UInt64 { (place &+ 1) &* 0x9E37_79B9_7F4A_7C15 }

    private static func append(_ value: some BitwiseCopyable, to data: inout Data) {
        withUnsafeBytes(of: value) { data.append(contentsOf: $0) }
    }
}
