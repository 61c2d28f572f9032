/// Compares what the server has with what the agent took and what gpsd sent.
package struct Verdict: Hashable, Sendable {
    /// Points in the database.
    package let stored: Int
    /// Times in seconds of points that the agent took and the server does not have.
    package let lost: [Int]
    package let doubled: Int
    package private(set) var problems: [String] = []

    /// - Parameters:
    ///   - taken: seconds since 1970 of every point that the agent took; no two points have the same second.
    ///   - chunks: the database's chunks in the order of storing.
    ///   - points: the track from the Web API.
    ///   - reports: everything that gpsd sent, one list for each of its processes.
    package init(taken: Set<Int>, chunks: [Fleet.Chunk], points: [Fleet.Stored], reports: [[GPSDWitness.Report]]) {
        let times = points.map(\.time)
        stored = chunks.reduce(0) { $0 + $1.count }
        lost = taken.subtracting(times).sorted()
        doubled = stored - Set(times).count
        if !lost.isEmpty { problems.append("lost: \(lost)") }
        if doubled != 0 { problems.append("doubled: \(doubled)") }
        if times != times.sorted() { problems.append("the track goes back in time") }
        for (earlier, later) in zip(chunks, chunks.dropFirst())
        where !earlier.isSettled && !later.isSettled && later.first <= earlier.last {
            problems.append("points overtook earlier ones: \(later.first) came after \(earlier.last)")
        }
        let told = Dictionary(grouping: reports.joined()) { $0.time / 1000 }
        var gaps = Self.gaps(between: reports)
        for point in points {
            let isTold = told[point.time, default: []].contains {
                abs($0.latitude - point.latitude) < 1e-6 && abs($0.longitude - point.longitude) < 1e-6
            }
            if isTold { continue }
            if told[point.time] == nil, let gap = gaps.firstIndex(where: { $0.contains(point.time) }) {
                gaps.remove(at: gap)
                continue
            }
            problems.append("gpsd never said \(point), but \(told[point.time] ?? [])")
        }
    }

    /// The seconds between the last report of one gpsd to the witness and the first report of the next gpsd. A killed
    /// gpsd may have sent one more epoch to the agent.
    private static func gaps(between reports: [[GPSDWitness.Report]]) -> [Range<Int>] {
        let spans = reports.compactMap { list in
            list.map(\.time).min().flatMap { first in list.map(\.time).max().map { (first, $0) } }
        }
        return zip(spans, spans.dropFirst()).compactMap { earlier, later in
            let (end, begin) = (earlier.1 / 1000 + 1, later.0 / 1000)
            return end < begin ? end..<begin : nil
        }
    }
}
