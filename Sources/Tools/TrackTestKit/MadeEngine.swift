package import Geodesy
package import JSON
package import RoadMatching
import Synchronization
package import TrackAnalysis

/// A road engine that knows ``MadeRoad`` alone, and answers as Valhalla does.
package struct MadeEngine: Sendable {
    /// Metres along the road where its map has a hole. It does not flag it.
    package var hole: Range<Double> = 0..<0
    /// Points left unmatched, by their position in the call.
    package var unmatched: Set<Int> = []
    package var limit = JSONValue.integer(50)
    package var isToll = false
    /// Metres beside the road beyond which it is not found.
    package var reach = 100.0

    package init(
        hole: Range<Double> = 0..<0, unmatched: Set<Int> = [], limit: JSONValue = .integer(50), isToll: Bool = false
    ) {
        (self.hole, self.unmatched, self.limit, self.isToll) = (hole, unmatched, limit, isToll)
    }

    package func reply(to samples: [TrackSample]) -> RoadReply { reply(to: samples.map(\.place)) }

    /// Metres along the road of the place's foot on it.
    private func along(_ place: Degrees) -> Double {
        let origin = MadeRoad.place(0)
        let distance = GreatCircle.distance(from: origin, to: place)
        let angle = (90 - GreatCircle.bearing(from: origin, to: place)) * .pi / 180
        return distance * cosine(angle) / MadeRoad.onSphere
    }

    private func reply(to places: [Degrees]) -> RoadReply {
        let along = places.map { self.along($0) }
        let matched = along.indices.filter { number in
            !unmatched.contains(number) && !hole.contains(along[number]) && along[number] >= 0
                && GreatCircle.distance(from: MadeRoad.place(along[number]), to: places[number]) <= reach
        }
        guard !matched.isEmpty else { return .nothingMatched }
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
            let place = places[position]
            guard matched.contains(position), let edge = edgeOf[Int(along[position] / MadeRoad.edge)] else {
                return .object([
                    "lat": .double(place.latitude), "lon": .double(place.longitude),
                    "type": .string("unmatched"),
                ])
            }
            let foot = MadeRoad.place(along[position])
            return .object([
                "lat": .double(foot.latitude), "lon": .double(foot.longitude), "type": .string("matched"),
                "edge_index": .integer(Int64(edge)),
                "distance_along_edge": .double(
                    along[position].truncatingRemainder(dividingBy: MadeRoad.edge) / MadeRoad.edge),
                "distance_from_trace_point": .double(GreatCircle.distance(from: foot, to: place)),
            ])
        }
        return RoadReply(
            .object([
                "shape": .string(encoded(shape)), "edges": .array(edges), "matched_points": .array(points),
                "units": .string("kilometers"),
            ]))
    }

    /// The answer to a request as the client sends it.
    package func reply(to request: RoadRequest) -> RoadReply {
        if request.path == "/status" {
            return RoadReply(
                .object([
                    "version": .string("3.9.1"), "tileset_last_modified": .integer(1_767_600_000),
                    "available_actions": .array(EngineStatus.neededActions.map { .string($0) }),
                ]))
        }
        let json = try? JSONReader.value(of: request.body)
        func places(_ name: String) -> [Degrees] {
            (json?[name]?.arrayValue ?? []).compactMap { place in
                guard let latitude = place["lat"]?.doubleValue, let longitude = place["lon"]?.doubleValue else {
                    return nil
                }
                return Degrees(latitude: latitude, longitude: longitude)
            }
        }
        if request.path == "/trace_attributes" { return reply(to: places("shape")) }
        let ends = places("locations")
        guard request.path == "/route", ends.count == 2 else { return RoadReply(status: 404, body: []) }
        return route(along(ends[0]), along(ends[1]))
    }

    /// Along the road, with a corner in each edge.
    private func route(_ start: Double, _ end: Double) -> RoadReply {
        // Places have steps of a centimetre: a kilometre is twenty steps also when it lacks one.
        let steps = max(1, Int((abs(end - start) + 0.05) / 50))
        let shape = (0...steps).map { MadeRoad.place(start + (end - start) * Double($0) / Double(steps)) }
        let classes: JSONValue = .array(isToll ? [.string("toll")] : [])
        return RoadReply(
            .object([
                "code": .string("Ok"),
                "routes": .array([
                    .object([
                        "distance": .double(abs(end - start)), "geometry": .string(encoded(shape)),
                        "legs": .array([
                            .object([
                                "steps": .array([
                                    .object([
                                        "intersections": .array([
                                            .object(["geometry_index": .integer(0), "classes": classes])
                                        ])
                                    ])
                                ])
                            ])
                        ]),
                    ])
                ]),
            ]))
    }

    /// The matches of all chunks of a plan, without those of the chunks in `lost`.
    package func matches(_ plan: TracePlan, lost: Set<Int> = []) throws -> [ChunkMatch?] {
        try plan.chunks.enumerated().map { number, chunk in
            guard !lost.contains(number) else { return nil }
            let samples = plan.samples(of: chunk)
            return ChunkMatch(try TraceAnswer(reply(to: samples), count: samples.count), for: samples)
        }
    }

    package func track(_ samples: [TrackSample], lost: Set<Int> = []) throws -> MatchedTrack {
        let plan = TracePlan(samples)
        return TrackMatcher.track(plan, try matches(plan, lost: lost))
    }

    /// Of a small angle.
    private func cosine(_ angle: Double) -> Double { 1 - angle * angle / 2 + angle * angle * angle * angle / 24 }
}

/// A straight road eastwards at 47° N, in edges of 100 m with a corner in the middle of each.
package enum MadeRoad {
    package static let edge = 100.0
    private static let begin = Degrees(latitude: 47, longitude: 9)
    /// Metres on the sphere of a metre on the ellipsoid, eastwards from the begin.
    static let onSphere =
        1000 / SurfaceDistance.between(begin, GreatCircle.destination(from: begin, bearing: 90, distance: 1000))

    package static func place(_ along: Double, left: Double = 0) -> Degrees {
        let place = GreatCircle.destination(from: begin, bearing: 90, distance: along * onSphere)
        return left == 0 ? place : GreatCircle.destination(from: place, bearing: 0, distance: left)
    }
}

/// Google's encoding, six decimals.
package func encoded(_ places: [Degrees]) -> String {
    var text = ""
    var (latitude, longitude): (Int64, Int64) = (0, 0)
    func append(_ value: Int64) {
        var rest = value < 0 ? ~(value << 1) : value << 1
        while rest >= 32 {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(rest & 31 | 32) + 63))
            rest >>= 5
        }
        text.unicodeScalars.append(Unicode.Scalar(UInt8(rest) + 63))
    }
    for place in places {
        let here = (Int64((place.latitude * 1e6).rounded()), Int64((place.longitude * 1e6).rounded()))
        append(here.0 - latitude)
        append(here.1 - longitude)
        (latitude, longitude) = here
    }
    return text
}

extension RoadReply {
    package init(_ value: JSONValue, status: Int = 200) {
        var writer = JSONWriter()
        writer.value(value)
        self.init(status: status, body: writer.bytes)
    }

    /// What the engine says when it knows no roads there.
    package static let nothingMatched = RoadReply(
        .object(["error_code": .integer(444), "error": .string("Map Match algorithm failed to find path")]), status: 400
    )
}

/// The way to an engine that a test makes, without a port.
package final class MadeTransport: RoadTransport {
    private let answer: @Sendable (Int, RoadRequest) throws(RoadFailure) -> RoadReply
    private let sent = Mutex<[RoadRequest]>([])

    /// Every request so far.
    package var requests: [RoadRequest] { sent.withLock { $0 } }

    /// `answer` gets the number of the request, from 0, and the request.
    package init(_ answer: @escaping @Sendable (Int, RoadRequest) throws(RoadFailure) -> RoadReply) {
        self.answer = answer
    }

    package convenience init(_ engine: MadeEngine = MadeEngine()) {
        self.init { _, request throws(RoadFailure) in engine.reply(to: request) }
    }

    package func exchange(_ request: RoadRequest, within timeout: Int64) async throws(RoadFailure) -> RoadReply {
        let number = sent.withLock { sent in
            sent.append(request)
            return sent.count - 1
        }
        return try answer(number, request)
    }
}
