package import Geodesy
package import TrackAnalysis
package import TrackModel

/// A track on roads, as far as they are known.
package struct MatchedTrack: Hashable, Sendable {
    /// One for each sample of the cleaned track.
    package internal(set) var samples: [RoadSample]
    /// The share of the sent points that is matched, for each part of the track that was sent.
    let partShares: [Double]
    /// How many sent points the engine put on a road at which they cannot have been.
    let disbelieved: Int

    /// The share of the samples that are on a road, 0 ... 1; 0 for an empty track.
    package var matched: Double {
        samples.isEmpty ? 0 : Double(samples.count { $0.edge != nil }) / Double(samples.count)
    }

    /// Metres on toll roads.
    package var toll: Double { samples.reduce(0) { $0 + $1.toll } }

    /// The length of the track: along roads where they are known, else along straight lines.
    package func length(slowBelow threshold: Double? = nil) -> TrackLength {
        var meter = LengthMeter(slowBelow: threshold)
        for road in samples { meter.add(road.sample, path: road.path) }
        return meter.result
    }

    /// How the vehicle was driven; the limits are those of the roads unless the options have one.
    ///
    /// `denoised` is the track before its stops were collapsed. A collapsed stop has speed 0 from its first sample on,
    /// where the vehicle still braked. Speeds and places are those of the fixes, ways and limits those of the roads.
    /// Events name their samples, so that the caller can show them on the road.
    /// With `alongRoads` false, only the limits are those of the roads, and ways are straight lines.
    package func behaviour(
        _ options: DrivingOptions, denoised: some Sequence<TrackSample>, alongRoads: Bool = true
    ) -> DrivingBehaviour {
        var analyzer = DrivingAnalyzer(options)
        if alongRoads {
            for road in samples { analyzer.travel(to: road.sample, path: road.path) }
        } else {
            var drops = DropReasons()
            for sample in StopCollapse.apply(StopCollapse(), to: denoised, &drops) { analyzer.travel(to: sample) }
        }
        var (position, before): (Int, RoadSample?) = (0, nil)
        for sample in denoised {
            while position < samples.count, samples[position].sample.index < sample.index { position += 1 }
            guard position < samples.count, samples[position].sample.index == sample.index else {
                // One of the many samples of a stop.
                analyzer.add(sample, limit: before?.edge?.limit, path: alongRoads ? 0 : nil)
                continue
            }
            let road = samples[position]
            let stands = road.sample.isInStop && before?.sample.isInStop == true
            let path = road.path ?? (stands ? 0 : nil)
            analyzer.add(sample, limit: road.edge?.limit, path: alongRoads ? path : nil)
            before = road
        }
        return analyzer.finish()
    }
}

/// A sample of the cleaned track with what is known of its road.
package struct RoadSample: Hashable, Sendable {
    /// On the road, when it is matched.
    package internal(set) var sample: TrackSample
    /// Nil when the sample is not matched: it stays where it was.
    package internal(set) var edge: RoadEdge?
    /// Metres along the road from the sample before; nil when no road is known on this way.
    package internal(set) var path: Double?
    /// Metres of ``path`` on toll roads.
    package internal(set) var toll = 0.0
    /// The corners of the road on the way from the sample before.
    package internal(set) var corners: [RoadVertex] = []

    init(_ sample: TrackSample) { self.sample = sample }
}

/// A corner of the road between two samples: the Web API's point with `_supplement`.
package struct RoadVertex: Hashable, Sendable {
    /// WGS 84.
    package let place: Degrees
    /// Between the times of the samples, as the length is.
    package let time: Timestamp

    /// The corner as a sample of a line.
    package func sample(index: Int) -> TrackSample {
        TrackSample(index: index, time: time.milliseconds, latitudeE7: 0, longitudeE7: 0).moved(to: place)
    }

    /// The corner at a share of the way between two samples.
    init(_ place: Degrees, share: Double, from start: TrackSample, to end: TrackSample) {
        self.place = place
        // Neighbours are at most some years apart; times beyond that come from outside and must not trap.
        let span = Double(max(0, min(end.milliseconds(since: start), 1 << 50)))
        time = start.timestamp.adding(milliseconds: Int64((span * max(0, min(1, share))).rounded()))
    }
}

/// Puts the matches of the chunks of a plan together.
package struct TrackMatcher: Sendable {
    /// A path is the way that was driven only when it is not much longer than the fixes' way: times, and metres
    /// besides. Else a short cut over a car park would drive the streets around it (map-matching-2 #12).
    static let longestDetour = (times: 1.5, metres: 100.0)

    private let plan: TracePlan
    /// Nil for a chunk without an answer.
    private let matches: [ChunkMatch?]
    private var track: [RoadSample]

    /// The track of a plan with the matches of its chunks, in the order of the chunks.
    package static func track(_ plan: TracePlan, _ matches: [ChunkMatch?]) -> MatchedTrack {
        var matcher = TrackMatcher(plan, matches)
        let shares = plan.parts.indices.filter { !plan.parts[$0].sent.isEmpty }.map { matcher.place(part: $0) }
        return MatchedTrack(
            samples: matcher.track, partShares: shares,
            disbelieved: matches.reduce(0) { $0 + ($1?.disbelieved ?? 0) })
    }

    private init(_ plan: TracePlan, _ matches: [ChunkMatch?]) {
        self.plan = plan
        self.matches = matches
        track = plan.samples.map(RoadSample.init)
    }

    /// Places the samples of a part; the share of its sent points that are matched.
    private mutating func place(part number: Int) -> Double {
        let part = plan.parts[number]
        let chunks = plan.chunks.indices.filter { plan.chunks[$0].part == number }
        var owners = [Int](repeating: chunks.first ?? 0, count: part.sent.count)
        for chunk in chunks { for point in plan.chunks[chunk].owned { owners[point] = chunk } }
        var matched = 0
        for (point, position) in part.sent.enumerated() {
            guard let found = place(of: point, preferring: owners[point], chunks) else { continue }
            matched += 1
            put(position, at: found.place.degrees, found.match.edges[found.place.edge])
        }
        for point in 1..<part.sent.count {
            join(part, point - 1, point, [owners[point - 1], owners[point]])
        }
        hold(part)
        return Double(matched) / Double(part.sent.count)
    }

    private func place(
        of point: Int, preferring owner: Int, _ chunks: [Int]
    ) -> (match: ChunkMatch, place: ChunkMatch.Place)? {
        let others = chunks.filter { $0 != owner && plan.chunks[$0].range.contains(point) }
        for chunk in [owner] + others {
            if let match = matches[chunk], let place = match.places[point - plan.chunks[chunk].range.lowerBound] {
                return (match, place)
            }
        }
        return nil
    }

    private mutating func put(_ position: Int, at place: Degrees, _ edge: RoadEdge) {
        track[position].sample = plan.samples[position].moved(to: place)
        track[position].edge = edge
    }

    // MARK: The way between two sent points

    private mutating func join(_ part: TracePart, _ start: Int, _ end: Int, _ owners: [Int]) {
        let (first, last) = (part.sent[start], part.sent[end])
        let fixes = (first + 1...last).reduce(0) { $0 + plan.samples[$1 - 1].distance(to: plan.samples[$1]) }
        for chunk in owners {
            let range = plan.chunks[chunk].range
            guard let match = matches[chunk], range.contains(start), range.contains(end),
                let from = match.places[start - range.lowerBound], let to = match.places[end - range.lowerBound],
                match.isConnected(from, to),
                to.metres - from.metres <= Self.longestDetour.times * fixes + Self.longestDetour.metres
            else { continue }
            return follow(match, from, to, first, last)
        }
    }

    /// Puts the samples between two sent points on the path, never backwards, and tells the way of each.
    private mutating func follow(
        _ match: ChunkMatch, _ from: ChunkMatch.Place, _ to: ChunkMatch.Place, _ first: Int, _ last: Int
    ) {
        var (metres, edge) = (from.metres, from.edge)
        for position in first + 1...last {
            let fix = plan.samples[position]
            var here = to.metres
            if position < last {
                here = match.lengths.nearest(to: fix.position, from: metres, to: to.metres)
                let there = match.lengths.place(at: here)
                if let there, ChunkMatch.isTrusted(there.distance(to: fix.position), fix) {
                    put(position, at: there.degrees, match.edges[match.edge(at: here, from: edge)])
                }
            }
            track[position].path = here - metres
            track[position].toll = match.toll(from: metres, to: here, edge: edge)
            track[position].corners = corners(match, metres, here, plan.samples[position - 1], fix)
            edge = match.edge(at: here, from: edge)
            metres = here
        }
    }

    private func corners(
        _ match: ChunkMatch, _ start: Double, _ end: Double, _ before: TrackSample, _ after: TrackSample
    ) -> [RoadVertex] {
        match.lengths.between(start, end).map { metres, place in
            RoadVertex(place.degrees, share: (metres - start) / (end - start), from: before, to: after)
        }
    }

    /// The engine leaves points of a vehicle that stands at the end of a path unmatched: they are at the path's end.
    private mutating func hold(_ part: TracePart) {
        guard let last = part.range.last(where: { track[$0].edge != nil }), let edge = track[last].edge else { return }
        let place = track[last].sample
        for position in last + 1..<max(part.range.upperBound, last + 1) {
            let fix = plan.samples[position]
            guard ChunkMatch.isTrusted(place.distance(to: fix), fix) else { break }
            put(position, at: place.place, edge)
            track[position].path = 0
        }
    }
}
