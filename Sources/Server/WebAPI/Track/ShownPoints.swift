import Geodesy
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
    ) -> DropLedger {
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
