import ArgumentParser
import DiskRing
import Foundation
import TrackModel
import TrackWire

/// Nothing here waits, so the ring's clock may stand still.
private let now = MonotonicTime(milliseconds: 0)

/// Measures latency and cost of the disk ring.
struct CacheBench: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cache", abstract: "Append latency, bytes, opening.")

    @Argument(help: "An empty directory on the disk to measure.") var directory: String

    func run() throws {
        let records = RealTrack.madeUp(count: 20_000).map { PointRecord.encode($0) }
        let size = records.reduce(0) { $0 + $1.count }
        figure("cache.record", Double(size) / Double(records.count), "bytes")
        // Appends without synchronising, then with a sync for each record.
        try append(records, "unsynced", interval: 3_600_000)
        try append(Array(records.prefix(500)), "synced", interval: 0)
        try openLarge(records)
    }

    private func append(_ records: [[UInt8]], _ name: String, interval: Int64) throws {
        let cache = try DiskRing(
            directory: "\(directory)/\(name)", options: DiskRingOptions(syncInterval: interval), now: now)
        let before = cache.counters.bytesWritten
        let clock = ContinuousClock()
        var latencies: [Double] = []
        for (index, record) in records.enumerated() {
            let start = clock.now
            cache.append(entity: "van_07", time: Int64(index) * 1000, payload: record, now: now + Int64(index))
            latencies.append(seconds(clock.now - start) * 1e6)
        }
        latencies.sort()
        figure("cache.\(name).p50", latencies[latencies.count / 2], "us")
        figure("cache.\(name).p99", latencies[latencies.count * 99 / 100], "us")
        figure(
            "cache.\(name).written", Double(cache.counters.bytesWritten - before) / Double(records.count),
            "bytes a point")
        cache.close(now: now + Int64(records.count))
    }

    private func openLarge(_ records: [[UInt8]]) throws {
        let path = "\(directory)/large"
        let filled = try DiskRing(
            directory: path, options: DiskRingOptions(limit: nil, syncInterval: 3_600_000), now: now)
        var time: Int64 = 0
        while filled.usage.diskBytes < 60 << 20 {
            for record in records {
                filled.append(entity: "van_07", time: time, payload: record, now: now)
                time += 1000
            }
        }
        filled.close(now: now)
        let clock = ContinuousClock()
        var opened: DiskRing?
        let duration = try clock.measure {
            opened = try DiskRing(directory: path, options: DiskRingOptions(limit: nil), now: now)
        }
        figure("cache.open_60mb", seconds(duration) * 1000, "ms")
        figure("cache.open_60mb.points", Double(opened?.count ?? 0), "points")
        opened?.close(now: now)
    }
}

/// Fills the ring for an agent that starts on it.
struct FillCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fill", abstract: "Fills an agent's disk ring.")

    @Argument(help: "The agent's cache directory.") var directory: String
    @Option(help: "How many points.") var points = 1_000_000
    @Option(help: "Their entity.") var entity = "van_07"

    func run() throws {
        let cache = try DiskRing(
            directory: directory, options: DiskRingOptions(limit: nil, syncInterval: 3_600_000), now: now)
        for point in RealTrack.madeUp(count: points) {
            cache.append(
                entity: entity, time: point.fix.time.milliseconds, payload: PointRecord.encode(point), now: now)
        }
        cache.close(now: now)
        figure("fill.points", Double(points), "points")
        figure("fill.disk", Double(cache.usage.diskBytes), "bytes")
    }
}

/// Measures the payload bytes of a point on a recorded drive.
struct WireBench: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "wire", abstract: "Payload bytes a point.")

    @Argument(help: "A GPX file with times.") var track: String

    func run() throws {
        let points = try RealTrack.gpx(track)
        guard points.count >= 12 else {
            throw ValidationError("\(track) holds only \(points.count) points with a time")
        }
        figure("wire.points", Double(points.count), "points")
        for (name, spacing, size) in [("live", 5, 6), ("1hz", 1, 60), ("backlog", 1, 1000)] {
            let chosen = sampled(points, every: spacing)
            var bytes = 0
            var count = 0
            for start in stride(from: 0, to: chosen.count, by: size) {
                let batch = Array(chosen[start..<min(start + size, chosen.count)])
                // The short last batch of a drive is not typical.
                guard batch.count == size || size == 1000 else { continue }
                bytes += BatchCodec.encode(batch).bytes.count
                count += batch.count
            }
            guard count > 0 else { continue }
            figure("wire.\(name)", Double(bytes) / Double(count), "bytes a point")
        }
        let clock = ContinuousClock()
        let batch = Array(points.prefix(1000))
        let encoded = BatchCodec.encode(batch)
        let rounds = 200
        let encoding = clock.measure { for _ in 0..<rounds { _ = BatchCodec.encode(batch) } }
        let decoding = try clock.measure {
            for _ in 0..<rounds {
                _ = try BatchCodec.decode(encoded.bytes, isCompressed: encoded.isCompressed, maximumCount: 1000)
            }
        }
        figure("codec.encode", Double(batch.count * rounds) / seconds(encoding), "points/s")
        figure("codec.decode", Double(batch.count * rounds) / seconds(decoding), "points/s")
    }

    private func sampled(_ points: [TrackPoint], every seconds: Int64) -> [TrackPoint] {
        var due = Int64.min
        return points.filter { point in
            guard point.fix.time.seconds >= due else { return false }
            due = point.fix.time.seconds + seconds
            return true
        }
    }

    private func sampled(_ points: [TrackPoint], every seconds: Int) -> [TrackPoint] {
        sampled(points, every: Int64(seconds))
    }
}

func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}
