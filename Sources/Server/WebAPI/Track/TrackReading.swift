import JSON
import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

/// One whole reading of a track. All pages of an answer come from one reading.
struct TrackReading: Sendable {
    /// The points in ascending order, without those that the processing leaves out.
    let points: ShownPoints
    /// Of the cleaned track, along roads where they were asked for. Thinning is for the eye and changes no distance.
    let length: TrackLength
    /// Why points of the track are missing among ``points``, with their numbers.
    let drops: [DropCount]
    /// The missing points, when they were asked for.
    let dropped: [(point: TrackPoint, reason: DropReason)]
    /// Where the store cannot read points that it holds.
    let holes: [TrackHole]
    let roads: TrackRoads
    /// Nil when nobody asked for them.
    let distances: TrackDistances?
}

extension TrackReading {
    /// The reading that another call has made, if nothing was stored for the entity since, or a new one.
    static func reading(
        _ query: TrackQuery, _ call: APICall, _ store: any PointStore
    ) async throws -> TrackReading {
        let version = try await store.version(of: query.range.entity.text, in: query.range.service)
        let reading = try await call.tracks.content(of: query, at: version, now: call.now, weight: \.bytes) {
            try await TrackReading(query, call, store)
        }
        return reading
    }

    /// Nil: the next reading may find more.
    private var bytes: Int? {
        guard holes.isEmpty, roads.isLasting else { return nil }
        return points.bytes + dropped.count * MemoryLayout<TrackPoint>.stride
    }

    private init(_ query: TrackQuery, _ call: APICall, _ store: any PointStore) async throws {
        let options = call.options
        let limit = query.option == nil ? options.maximumRawPoints : options.maximumProcessedPoints
        let track = try await query.range.read(
            // One answer has all points that were left out.
            call, store, limit: query.explanation == .points ? limit : query.range.limit(limit, options))
        guard let option = query.option else {
            self = await Self.raw(track, query, call)
            return
        }
        self = await Self.processed(track, option, query, call)
    }

    /// The track as it was uploaded. Roads can only tell ways across its interruptions.
    private static func raw(_ track: StoredTrack, _ query: TrackQuery, _ call: APICall) async -> TrackReading {
        let length = length(of: track.points.points, slowBelow: query.slowBelow)
        let distances =
            query.explanation == .none ? nil : TrackDistances(raw: length.driven, cleaned: nil, roads: nil)
        var roads = TrackRoads(query.supplement.travel == nil ? nil : call.roads, for: query.range)
        await roads.bridge(
            length.interruptions, query.supplement, of: ProcessOption(parsing: nil), query.range.entity, call)
        guard query.showsRoutes, let routes = roads.routes else {
            return TrackReading(
                points: ShownPoints(track.points), length: length, drops: [], dropped: [], holes: track.holes,
                roads: roads, distances: distances)
        }
        var points = ShownPoints(of: track.points, isProcessed: false)
        var next = 0
        for (gap, route) in zip(length.interruptions, routes.answers) {
            guard let route else { continue }
            points.append(next..<gap.end.index)
            next = gap.end.index
            for corner in route.corners(from: gap.start, to: gap.end) { points.append(corner, .routed) }
        }
        points.append(next..<track.points.count)
        return TrackReading(
            points: points, length: length, drops: [], dropped: [], holes: track.holes, roads: roads,
            distances: distances)
    }

    private static func processed(
        _ track: StoredTrack, _ option: ProcessOption, _ query: TrackQuery, _ call: APICall
    ) async -> TrackReading {
        let (points, analysis) = (track.points.points, call.options.analysis)
        let bridges = query.supplement.travel != nil
        var roads = TrackRoads(option.mapMatch || bridges ? call.roads : nil, for: query.range)
        // Whether more than the samples before it decides how a sample is shown.
        let looksAhead = option.mapMatch || (bridges && query.showsRoutes) || option.comparesSamples(analysis)
        var (drops, line, length, cleaned): (DropReasons, TrackLine, TrackLength, Double)
        if looksAhead {
            var samples: [TrackSample] = []
            samples.reserveCapacity(points.count)
            drops = TrackCleaner.clean(points, option.cleaning(analysis)) { samples.append($0) }
            cleaned = query.explanation == .none ? 0 : LengthMeter.length(of: samples).driven
            if option.mapMatch { await roads.match(samples, option, query.range.entity, call) }
            if let match = roads.match { samples = match.samples.map(\.sample) }
            length =
                roads.match?.length(slowBelow: query.slowBelow)
                ?? LengthMeter.length(of: samples, slowBelow: query.slowBelow)
            await roads.bridge(length.interruptions, query.supplement, of: option, query.range.entity, call)
            var kinds = [TravelKind?](repeating: nil, count: points.count)
            for (sample, kind) in zip(samples, option.kinds(of: samples, analysis) ?? []) { kinds[sample.index] = kind }
            var additions = TrackLine.Additions(match: roads.match)
            if query.showsRoutes, let routes = roads.routes {
                (additions.interruptions, additions.routes) = (length.interruptions, routes)
            }
            line = TrackLine(of: track.points, additions, tolerance: option.thinning.tolerance, options: call.options) {
                [kinds] in kinds[$0.index]
            }
            for sample in samples { line.add(sample) }
        } else {
            // Sample by sample: the track never stands in memory as samples.
            var meter = LengthMeter(slowBelow: query.slowBelow)
            let isTold = option.travel == .automatic
            line = TrackLine(of: track.points, tolerance: option.thinning.tolerance, options: call.options) {
                isTold ? TravelKind.kind(of: $0) : nil
            }
            drops = TrackCleaner.clean(points, option.cleaning(analysis)) {
                meter.add($0)
                line.add($0)
            }
            length = meter.result
            cleaned = length.driven
            await roads.bridge(length.interruptions, query.supplement, of: option, query.range.entity, call)
        }
        line.finish()
        // Corners of roads are no points of the track.
        drops.add(line.drops, count: points.count)
        let dropped = query.explanation == .none ? [] : drops.dropped
        return TrackReading(
            points: line.shown, length: length, drops: DropCount.all(of: dropped.lazy.map(\.reason)),
            dropped: query.explanation == .points
                ? dropped.map { (track.points[$0.index].point, $0.reason) } : [],
            holes: track.holes, roads: roads,
            distances: query.explanation == .none
                ? nil
                : TrackDistances(
                    raw: Self.length(of: points, slowBelow: nil).driven, cleaned: cleaned,
                    roads: roads.match == nil ? nil : length.driven))
    }

    /// The length of a track as it was uploaded.
    private static func length(of points: PackedPoints, slowBelow threshold: Double?) -> TrackLength {
        var meter = LengthMeter(slowBelow: threshold)
        TrackColumns.blocks(of: points) { meter.add($0, from: $1) }
        return meter.result
    }

    /// Members for the length of the track.
    func writeDistance(_ query: TrackQuery, _ options: WebAPIOptions, to object: inout JSONWriter) {
        let total = length.total(query.supplement.supplement(roads.routes, options.analysis))
        object.name("distance")
        object.rounded(total.metres, digits: 4)
        if query.slowBelow != nil {
            object.name("low_speed_distance")
            object.rounded(total.slow, digits: 4)
        }
        roads.state?.write(options, implausible: roads.routes?.implausible ?? 0, to: &object)
    }

    /// Members for the points that the processing left out, and for the lengths of the track.
    func writeExplanation(
        _ query: TrackQuery, _ options: WebAPIOptions, _ writer: PointWriter, to object: inout JSONWriter
    ) {
        let total = length.total(query.supplement.supplement(roads.routes, options.analysis)).metres
        distances?.write(total: total, supplement: total - length.driven, to: &object)
        query.explanation.write(drops, dropped, breaks: length.breaks, writer, to: &object)
    }
}

extension TrackRange {
    /// The same from memory, if nothing was stored for the entity since somebody read it.
    func read(_ call: APICall, _ store: any PointStore, limit: Int) async throws -> StoredTrack {
        let version = try await store.version(of: entity.text, in: service)
        let track = try await call.tracks.content(of: self, at: version, now: call.now, weight: \.bytes) {
            try await readOnce(call, store, limit: limit)
        }
        // Another call may have had another limit.
        return track.points.count <= limit ? track : try await readOnce(call, store, limit: limit)
    }

    /// The points of the range, and where the store cannot read; more points than `limit` are an error.
    func readOnce(_ call: APICall, _ store: any PointStore, limit: Int) async throws -> StoredTrack {
        do {
            let track = try await store.track(of: entity.text, in: service, from: from, through: through, limit: limit)
            call.note(track.holes)
            return track
        } catch {
            guard isLong, error.code == .tooManyPoints else { throw error }
            throw APIFailure(
                call.path.hasPrefix("analysis/") ? .tooManyPointsToAnalyse : .tooManyPointsInRange,
                "the range has more than \(limit) points: make the time between start_time and end_time shorter")
        }
    }
}

extension StoredTrack {
    /// Nil: the next reading may find more.
    fileprivate var bytes: Int? {
        guard holes.isEmpty else { return nil }
        return points.bytes
    }
}

extension [TrackHole] {
    /// Says where points are missing that the store cannot read; nothing when there is no such place.
    func write(to object: inout JSONWriter) {
        guard !isEmpty else { return }
        object.array("unreadable") { list in
            for hole in self {
                list.object {
                    $0.member("start_time", hole.from.seconds)
                    $0.member("end_time", hole.through.seconds)
                    $0.member("points", hole.count)
                }
            }
        }
    }
}

/// The lengths of one track side by side, without its interruptions: an addition to the published API that says where a
/// difference comes from.
struct TrackDistances: Sendable {
    /// Metres between the points as they were uploaded.
    let raw: Double
    /// Metres of the cleaned track; nil when it was not cleaned.
    let cleaned: Double?
    /// Metres along roads; nil when the track is not on roads.
    let roads: Double?
}

extension TrackDistances {
    /// The member `distances`. `total`: the `distance` of the answer. `supplement`: the part of it that interruptions add.
    func write(total: Double, supplement: Double, to object: inout JSONWriter) {
        object.object("distances") {
            for (name, metres) in [("raw", raw), ("cleaned", cleaned), ("roads", roads), ("supplement", supplement)] {
                guard let metres else { continue }
                $0.name(name)
                $0.rounded(metres, digits: 4)
            }
            $0.name("supplement_share")
            $0.rounded(total > 0 ? supplement / total : 0, digits: 4)
        }
    }
}
