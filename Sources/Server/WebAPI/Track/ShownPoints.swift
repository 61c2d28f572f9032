import Geodesy
import JSON
import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

/// The points of a reading in their order: the store's own, and what the processing says of each, 20 bytes a point.
struct ShownPoints: RandomAccessCollection, Sendable {
    /// A point that the processing left, or a corner.
    private struct Row: Sendable {
        /// Of the stored point; from -1 on downwards: of the corner.
        var index: Int32
        /// Where a point stands that was moved, 1e-7 degree.
        var latitudeE7: Int32 = 0
        var longitudeE7: Int32 = 0
        /// Of ``roads``; -1: none is known.
        var road: Int32 = -1
        var travel: TravelKind?
        var isInStop = false
    }

    private let stored: StoredPoints
    private let isProcessed: Bool
    /// Nil: the stored points as they are.
    private var rows: [Row]?
    /// Neighbours on one road share its label.
    private var roads: [RoadLabel] = []
    private var corners: [ShownPoint] = []

    /// The track as it was uploaded.
    init(_ stored: StoredPoints) {
        self.stored = stored
        isProcessed = false
        rows = nil
    }

    /// Nothing yet, of these points.
    init(of stored: StoredPoints, isProcessed: Bool) {
        self.stored = stored
        self.isProcessed = isProcessed
        rows = []
    }

    /// Adds points as they were uploaded.
    mutating func append(_ range: Range<Int>) {
        for index in range { rows?.append(Row(index: Int32(index))) }
    }

    /// Adds a corner of a road, unless it is nowhere on the earth.
    mutating func append(_ corner: RoadVertex, _ kind: TrackLine.Kind) {
        guard let point = ShownPoint(corner, kind) else { return }
        corners.append(point)
        rows?.append(Row(index: -Int32(corners.count)))
    }

    /// Adds a point as it is in the processed track.
    mutating func append(_ sample: TrackSample, travel: TravelKind?, road: RoadLabel?) {
        var row = Row(index: Int32(sample.index), travel: travel, isInStop: sample.isInStop)
        row.latitudeE7 = sample.latitudeE7
        row.longitudeE7 = sample.longitudeE7
        if let road {
            if roads.last != road { roads.append(road) }
            row.road = Int32(roads.count - 1)
        }
        rows?.append(row)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { rows?.count ?? stored.count }

    subscript(position: Int) -> ShownPoint {
        guard let row = rows?[position] else { return ShownPoint(stored[position]) }
        guard row.index >= 0 else { return corners[-1 - Int(row.index)] }
        let point = stored[Int(row.index)]
        guard isProcessed else { return ShownPoint(point) }
        let road = row.road < 0 ? nil : roads[Int(row.road)]
        let isMoved = row.isInStop || road != nil
        return ShownPoint(
            point,
            at: isMoved ? Coordinate(latitudeE7: row.latitudeE7, longitudeE7: row.longitudeE7) : nil,
            isInStop: row.isInStop, travel: row.travel, road: road)
    }

    /// Roughly. The stored points count, also when another reading has them too.
    var bytes: Int {
        stored.bytes + (rows?.count ?? 0) * MemoryLayout<Row>.stride
            + (roads.count * MemoryLayout<RoadLabel>.stride) + corners.count * MemoryLayout<ShownPoint>.stride
    }
}

extension TrackColumns {
    /// The columns of stored points, or of a range of them. Nearly no point needs to be unpacked.
    init(_ points: PackedPoints, _ range: Range<Int>? = nil) {
        self.init()
        let range = range ?? 0..<points.count
        reserve(range.count)
        for position in range {
            guard points.type(at: position) == .wgs84 else {
                append(points[position])
                continue
            }
            let fix = points.fix(at: position)
            append(fix, at: fix.coordinate, isParked: points.isParked(at: position))
        }
    }

    /// Points that are in columns at one time: a track may have very many.
    private static let block = 1024

    /// The columns of all points, block by block, with the position of the first of each.
    static func blocks(of points: PackedPoints, _ body: (TrackColumns, Int) -> Void) {
        for start in stride(from: 0, to: points.count, by: block) {
            body(TrackColumns(points, start..<Swift.min(start + block, points.count)), start)
        }
    }
}

extension TrackCleaner {
    /// Cleans stored points block by block, and gives each sample that is kept to `body`. Returns why points are missing.
    static func clean(
        _ points: PackedPoints, _ options: CleaningOptions, _ body: (TrackSample) -> Void
    ) -> DropReasons {
        var cleaner = TrackCleaner(options)
        var kept: [TrackSample] = []
        TrackColumns.blocks(of: points) { columns, _ in
            cleaner.add(columns, to: &kept)
            kept.forEach(body)
            kept.removeAll(keepingCapacity: true)
        }
        cleaner.finish(to: &kept)
        kept.forEach(body)
        return cleaner.drops
    }
}

/// A stored point as an answer shows it, or a corner of a road between stored points.
struct ShownPoint: Sendable {
    /// Of a corner, only time and place mean anything.
    let stored: StoredPoint
    /// What processing tells of the point; nil for a track as it was uploaded.
    let processing: Processing?

    struct Processing: Sendable {
        /// Nil when the client said how the entity travels.
        let travel: TravelKind?
        /// Nil when no road is known.
        let road: RoadLabel?
    }

    /// What added the point; nil for a stored point.
    let supplement: TrackLine.Kind?

    /// As it was uploaded.
    init(_ stored: StoredPoint) {
        self.stored = stored
        processing = nil
        supplement = nil
    }

    /// As it is in the processed track: a point of a stop stands at the mean place of the stop, and at rest; a matched
    /// point is on its road. `place`: of a point that was moved. A point of a stop keeps the course that was uploaded: clients whose
    /// points all have one read it of each point without asking.
    init(_ stored: StoredPoint, at place: Coordinate?, isInStop: Bool, travel: TravelKind?, road: RoadLabel?) {
        var point = stored.point
        if let place {
            point.fix.coordinate = place
            point.coordinateType = .wgs84
        }
        if isInStop { point.fix.speed = 0 }
        self.stored = StoredPoint(point, received: stored.received)
        processing = Processing(travel: travel, road: road)
        supplement = nil
    }

    /// The point where its sample is.
    static func placed(_ point: TrackPoint, _ sample: TrackSample) -> TrackPoint {
        guard let place = Coordinate(latitudeE7: sample.latitudeE7, longitudeE7: sample.longitudeE7) else {
            return point
        }
        var point = point
        point.fix.coordinate = place
        point.coordinateType = .wgs84
        return point
    }

    /// A corner of a road; nil for one that is nowhere on the earth.
    init?(_ corner: RoadVertex, _ kind: TrackLine.Kind) {
        guard let place = Coordinate(latitude: corner.place.latitude, longitude: corner.place.longitude) else {
            return nil
        }
        let fix = Fix(time: corner.time, coordinate: place)
        stored = StoredPoint(TrackPoint(fix), received: corner.time)
        processing = nil
        supplement = kind
    }
}

extension ShownPoint.Processing {
    /// Members that only a processed point has.
    func write(_ fix: Fix, to object: inout JSONWriter) {
        object.member("locate_mode", Self.locateMode(of: fix))
        if let transportMode { object.member("transport_mode", transportMode) }
        road?.write(to: &object)
    }

    /// How the place was found, in the words of the published service.
    static func locateMode(of fix: Fix) -> String {
        fix.mode != nil || fix.accuracy.map { $0 <= 200 } == true ? "GPS/北斗定位" : "未知"
    }

    /// In the words of the published service.
    var transportMode: String? {
        switch travel {
        case .standing: "停留"
        case .walking: "步行"
        case .riding: "骑行"
        case .driving: "驾车"
        case nil: nil
        }
    }
}

/// A processed track in the order in which it is shown: its samples, and between them the points that roads add, thinned.
///
/// Takes the samples of the cleaned track one by one, and holds no more of them than the thinning does.
struct TrackLine {
    /// The value of `_supplement`.
    enum Kind: Int64, Sendable {
        case matched = 1
        case routed = 2
    }

    /// What roads add.
    struct Additions {
        var match: MatchedTrack?
        /// With the believed routes across them, whose points are shown.
        var interruptions: [Interruption] = []
        var routes: RoadRoutes?
    }

    /// Of the samples, by their indices.
    private let travel: (TrackSample) -> TravelKind?
    private let additions: Additions
    private let options: WebAPIOptions
    /// Points of the track; corners have the indices after them.
    private let count: Int
    private var corners: [(vertex: RoadVertex, kind: Kind)] = []
    /// By the indices of the samples; empty without a match.
    private var edges: [RoadEdge?]
    /// Samples so far, and interruptions that are behind them.
    private var position = 0
    private var passed = 0
    private var thinning: TimeRatioThinning?
    private var buffer: [TrackSample] = []

    private(set) var shown: ShownPoints
    /// Of the thinning alone, also of corners.
    private(set) var drops = DropReasons()

    /// `tolerance`: of the thinning, metres; 0 keeps all.
    init(
        of points: StoredPoints, _ additions: Additions = Additions(), tolerance: Double, options: WebAPIOptions,
        travel: @escaping (TrackSample) -> TravelKind?
    ) {
        self.travel = travel
        self.additions = additions
        self.options = options
        count = points.count
        edges = additions.match == nil ? [] : Array(repeating: nil, count: points.count)
        thinning = tolerance > 0 ? TimeRatioThinning(metres: tolerance) : nil
        shown = ShownPoints(of: points, isProcessed: true)
    }

    /// Takes the next sample of the cleaned track; of a matched track, the sample on its road.
    mutating func add(_ sample: TrackSample) {
        if passed < additions.interruptions.count, additions.interruptions[passed].end.index == sample.index {
            let gap = additions.interruptions[passed]
            if let route = additions.routes?.answers[passed] {
                for corner in route.corners(from: gap.start, to: gap.end) { add(corner, .routed) }
            }
            passed += 1
        }
        if let road = additions.match?.samples[position] {
            for corner in road.corners { add(corner, .matched) }
            edges[sample.index] = road.edge
        }
        position += 1
        thin(sample)
    }

    /// No sample comes any more.
    mutating func finish() {
        thinning?.finish(to: &buffer, &drops)
        show()
    }

    private mutating func add(_ corner: RoadVertex, _ kind: Kind) {
        corners.append((corner, kind))
        thin(corner.sample(index: count + corners.count - 1))
    }

    private mutating func thin(_ sample: TrackSample) {
        if thinning == nil { buffer.append(sample) } else { thinning?.add(sample, to: &buffer, &drops) }
        show()
    }

    private mutating func show() {
        for sample in buffer {
            guard sample.index < count else {
                let corner = corners[sample.index - count]
                shown.append(corner.vertex, corner.kind)
                continue
            }
            let edge = edges.isEmpty ? nil : edges[sample.index]
            shown.append(sample, travel: travel(sample), road: edge.map { RoadLabel($0, options) })
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
