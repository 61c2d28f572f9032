import Foundation
import Geofencing
import TrackModel

/// How fast points are judged, in points a second of user CPU time.
struct FenceSpeed {
    let set: FenceSet
    let tracks: [[FencePoint]]

    struct Result {
        /// Seconds of user CPU time.
        var seconds = 0.0
        var points = 0
        var alarms = 0
        /// Fences remembered after each point, all together.
        var inside = 0
        /// Points that the judge passed over: no fence was near their way.
        var skipped = 0

        func each(_ number: Int) -> Double { Double(number) / Double(max(points, 1)) }
    }

    /// Every vehicle in turn uploads a batch, until all tracks are used up. The memories stay decoded.
    func play(batch: Int) -> Result {
        var memories = [EntityMemory](repeating: EntityMemory(), count: tracks.count)
        var (judge, alarms) = (FenceJudge(), [FenceAlarm]())
        var result = Result()
        let longest = tracks.reduce(0) { max($0, $1.count) }
        let start = Self.processorSeconds
        for first in stride(from: 0, to: longest, by: batch) {
            for vehicle in tracks.indices {
                alarms.removeAll(keepingCapacity: true)
                var rest = tracks[vehicle].dropFirst(first).prefix(batch)
                while let point = rest.first {
                    let passed = judge.passOver(rest, of: &memories[vehicle], by: set)
                    result.skipped += passed
                    if passed == 0 { _ = judge.judge(point, of: &memories[vehicle], by: set, into: &alarms) }
                    let judged = max(passed, 1)
                    result.points += judged
                    result.inside += judged * memories[vehicle].pairs.count
                    rest = rest.dropFirst(judged)
                }
                result.alarms += alarms.count
            }
        }
        result.seconds = Self.processorSeconds - start
        return result
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
