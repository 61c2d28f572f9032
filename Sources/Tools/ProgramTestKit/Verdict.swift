import DiskRing
import Foundation
import Synchronization
import TrackModel

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
    package init(taken: Set<Int>, chunks: [Fleet.Chunk], points: [Fleet.Stored], reports: [[GPSDObserver.Report]]) {
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
    private static func gaps(between reports: [[GPSDObserver.Report]]) -> [Range<Int>] {
        let spans = reports.compactMap { list in
            list.map(\.time).min().flatMap { first in list.map(\.time).max().map { (first, $0) } }
        }
        return zip(spans, spans.dropFirst()).compactMap { earlier, later in
            let (end, begin) = (earlier.1 / 1000 + 1, later.0 / 1000)
            return end < begin ? end..<begin : nil
        }
    }
}

/// A second client of the same gpsd, directly on its socket.
package final class GPSDObserver: Sendable {
    /// One report with a time and a position.
    package struct Report: Hashable, Sendable {
        /// Milliseconds.
        package let time: Int
        package let mode: Int
        package let latitude: Double
        package let longitude: Double
        /// How many of speed, course, altitude and accuracy the report has.
        package let details: Int

        package init(time: Int, mode: Int, latitude: Double, longitude: Double, details: Int) {
            self.time = time
            self.mode = mode
            self.latitude = latitude
            self.longitude = longitude
            self.details = details
        }
    }

    private let text = Mutex(Data())
    private let descriptor: Int32

    package init(port: Int, in network: NetworkNamespace? = nil) throws {
        descriptor = try inside(network) { try LoopbackSocket.connect(port: port) }
        let client = descriptor
        let watch = Array("?WATCH={\"enable\":true,\"json\":true};\n".utf8)
        send(client, watch, watch.count, Int32(MSG_NOSIGNAL))
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(client, &buffer, buffer.count)
                guard count > 0 else { break }
                text.withLock { $0 += buffer[..<count] }
            }
            close(client)
        }
    }

    private func messages() -> [[String: Any]] {
        text.withLock { $0 }.split(separator: 0x0A).compactMap {
            try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
        }
    }

    /// What gpsd took the receivers for so far, such as `SiRF`.
    package func drivers() -> Set<String> {
        Set(messages().filter { $0["class"] as? String == "DEVICE" }.compactMap { $0["driver"] as? String })
    }

    /// gpsd has told that its receiver is gone.
    package var hasLostReceiver: Bool {
        messages().contains { $0["class"] as? String == "DEVICE" && $0["activated"] as? Int == 0 }
    }

    /// Every report with a time and a position so far, in order.
    package func reports() -> [Report] {
        let times = ISO8601DateFormatter()
        times.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return messages().compactMap { object in
            guard object["class"] as? String == "TPV", let mode = object["mode"] as? Int, mode >= 2,
                let stamp = object["time"] as? String, let date = times.date(from: stamp),
                let latitude = object["lat"] as? Double, let longitude = object["lon"] as? Double
            else { return nil }
            let details = ["speed", "track", "altMSL", "eph"].count { object[$0] != nil }
            return Report(
                time: Int((date.timeIntervalSince1970 * 1000).rounded()), mode: mode, latitude: latitude,
                longitude: longitude, details: details)
        }
    }
}

/// Collects, from the agent's event stream, every point that the agent's ring has stored durably.
package final class GatheredPointCollector: Sendable {
    private let watcher: Program

    package init(_ fleet: Fleet) throws {
        watcher = try Program(Built.path("saker"), ["watch", "--json"], environment: ["SAKER_SOCKET": fleet.socket])
        try waitUntil("the event stream begins", within: 300) { [watcher] in
            try require(watcher.isRunning, "\(watcher.printed)")
            return watcher.printed.contains("\n")
        }
    }

    /// Seconds since 1970 of every point so far. Ignores a line that the agent's kill cut short.
    package func seen() -> Set<Int> {
        var found: Set<Int> = []
        for line in watcher.printed.split(separator: "\n") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                continue
            }
            let event = (object["event"] as? [String: Any]) ?? object
            guard event["kind"] as? String == "gather", let fields = event["fields"] as? [String: Any],
                let time = fields["last_point_time"] as? Int
            else { continue }
            found.insert(time / 1000)
        }
        return found
    }

    package func end() {
        watcher.end(SIGKILL)
    }

    /// Call it after the end of the agent. Reads everything that the agent sent.
    package func last() throws -> Set<Int> {
        try waitUntil("the event stream ends with the agent", within: 300) { !watcher.isRunning }
        end()
        return seen()
    }
}

/// Reads the ring of a dead agent. The ring's own code reads a copy, so that the next agent finds the ring unchanged.
package enum CacheContents {
    /// The times of all waiting points in milliseconds, in the order of the ring.
    package static func times(of directory: String) throws -> [Int] {
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        let copies = try TemporaryDirectory()
        let copy = copies.file("cache")
        try FileManager.default.copyItem(atPath: directory, toPath: copy)
        let now = MonotonicTime(milliseconds: 0)
        let cache = try DiskRing(directory: copy, now: now)
        var times: [Int] = []
        var position: UInt64 = 0
        while let batch = cache.read(after: position, maximumCount: 1000, maximumBytes: .max, now: now) {
            times += batch.records.map { Int($0.time) }
            position = batch.lastSequence
        }
        cache.close(now: now)
        return times
    }
}
