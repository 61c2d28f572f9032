import ArgumentParser
import TrackModel
import TrackWire

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
