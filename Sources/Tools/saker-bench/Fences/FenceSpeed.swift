import Foundation
import Geofencing
import TrackModel

/// How fast points are judged, in points a second of user CPU time.
struct FenceSpeed {
    let set: FenceSet
    let tracks: [[FencePoint]]

    /// Every vehicle in turn uploads a batch, until all tracks are used up. The memories stay decoded.
    func play(batch: Int) -> (rate: Double, alarms: Double, inside: Double) {
        var memories = [EntityMemory](repeating: EntityMemory(), count: tracks.count)
        var (judge, alarms) = (FenceJudge(), [FenceAlarm]())
        var (points, told, inside) = (0, 0, 0)
        let start = Self.processorSeconds
        for first in stride(from: 0, to: tracks.first?.count ?? 0, by: batch) {
            for vehicle in tracks.indices {
                alarms.removeAll(keepingCapacity: true)
                for point in tracks[vehicle].dropFirst(first).prefix(batch) {
                    _ = judge.judge(point, of: &memories[vehicle], by: set, into: &alarms)
                    points += 1
                    inside += memories[vehicle].pairs.count
                }
                told += alarms.count
            }
        }
        let seconds = Self.processorSeconds - start
        return (Double(points) / seconds, Double(told) / Double(points), Double(inside) / Double(points))
    }

    /// User time of this process.
    static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
    }

    /// Private memory that no file backs.
    static func privateKilobytes() throws -> Double {
        let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
        guard let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return number
    }
}
