import Geodesy
import JSON
import TrackAnalysis

@testable import RoadMatching

/// A road engine that knows ``MadeRoad`` alone, and answers as Valhalla does.
struct MadeEngine {
    /// Metres along the road where its map has a hole. It does not flag it.
    var hole: Range<Double> = 0..<0
    /// Points left unmatched, by their position in the call.
    var unmatched: Set<Int> = []
    var limit = JSONValue.integer(50)
    var isToll = false

    func reply(to samples: [TrackSample]) -> RoadReply {
        let origin = MadeRoad.place(0)
        let along = samples.map { sample in
            // The foot of the sample on the road.
            let distance = GreatCircle.distance(from: origin, to: sample.place)
            let angle = (90 - GreatCircle.bearing(from: origin, to: sample.place)) * .pi / 180
            return distance * cosine(angle)
        }
        let matched = along.indices.filter { !unmatched.contains($0) && !hole.contains(along[$0]) }
        var (shape, edges, edgeOf): ([Degrees], [JSONValue], [Int: Int]) = ([], [], [:])
        for side in [matched.filter { along[$0] < hole.lowerBound }, matched.filter { along[$0] >= hole.lowerBound }] {
            let metres = side.map { along[$0] }
            guard let first = metres.min(), let last = metres.max() else { continue }
            let numbers = Int(first / MadeRoad.edge)...Int(last / MadeRoad.edge)
            shape.append(MadeRoad.place(first))
            for number in numbers {
                let (begin, end) = (Double(number) * MadeRoad.edge, Double(number + 1) * MadeRoad.edge)
                let start = shape.count - 1
                let (from, to) = (max(begin, first), min(end, last))
                if from < begin + 50, to > begin + 50 { shape.append(MadeRoad.place(begin + 50)) }
                shape.append(MadeRoad.place(to))
                var edge: [String: JSONValue] = [
                    "way_id": .integer(Int64(number)), "begin_shape_index": .integer(Int64(start)),
                    "end_shape_index": .integer(Int64(shape.count - 1)), "road_class": .string("primary"),
                    "names": .array([.string("Made"), .string("M \(number)")]), "speed_limit": limit,
                    "toll": .bool(isToll), "length": .double((to - from) / 1000),
                ]
                if from > begin { edge["source_percent_along"] = .double((from - begin) / MadeRoad.edge) }
                if to < end { edge["target_percent_along"] = .double((to - begin) / MadeRoad.edge) }
                edgeOf[number] = edges.count
                edges.append(.object(edge))
            }
        }
        let points = along.indices.map { position -> JSONValue in
            let sample = samples[position]
            guard matched.contains(position), let edge = edgeOf[Int(along[position] / MadeRoad.edge)] else {
                return .object([
                    "lat": .double(sample.place.latitude), "lon": .double(sample.place.longitude),
                    "type": .string("unmatched"),
                ])
            }
            let foot = MadeRoad.place(along[position])
            return .object([
                "lat": .double(foot.latitude), "lon": .double(foot.longitude), "type": .string("matched"),
                "edge_index": .integer(Int64(edge)),
                "distance_along_edge": .double(
                    along[position].truncatingRemainder(dividingBy: MadeRoad.edge) / MadeRoad.edge),
                "distance_from_trace_point": .double(GreatCircle.distance(from: foot, to: sample.place)),
            ])
        }
        return RoadReply(
            .object([
                "shape": .string(encoded(shape)), "edges": .array(edges), "matched_points": .array(points),
                "units": .string("kilometers"),
            ]))
    }

    /// The matches of all chunks of a plan, without those of the chunks in `lost`.
    func matches(_ plan: TracePlan, lost: Set<Int> = []) throws -> [ChunkMatch?] {
        try plan.chunks.enumerated().map { number, chunk in
            guard !lost.contains(number) else { return nil }
            let samples = plan.samples(of: chunk)
            return ChunkMatch(try TraceAnswer(reply(to: samples), count: samples.count), for: samples)
        }
    }

    func track(_ samples: [TrackSample], lost: Set<Int> = []) throws -> MatchedTrack {
        let plan = TracePlan(samples)
        return TrackMatcher.track(plan, try matches(plan, lost: lost))
    }

    /// Of a small angle.
    private func cosine(_ angle: Double) -> Double { 1 - angle * angle / 2 + angle * angle * angle * angle / 24 }
}
