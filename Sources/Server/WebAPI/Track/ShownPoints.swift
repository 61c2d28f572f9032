import TrackAnalysis
import TrackModel
import TrackStore

/// The points of a reading in their order. Those of a track as it was uploaded are the store's own, without a copy.
struct ShownPoints: RandomAccessCollection, Sendable {
    private enum Content: Sendable {
        case stored(StoredPoints)
        case shown([ShownPoint])
    }

    private let content: Content

    init(_ stored: StoredPoints) {
        content = .stored(stored)
    }

    init(_ shown: [ShownPoint]) {
        content = .shown(shown)
    }

    var startIndex: Int { 0 }

    var endIndex: Int {
        switch content {
        case .stored(let points): points.count
        case .shown(let points): points.count
        }
    }

    subscript(index: Int) -> ShownPoint {
        switch content {
        case .stored(let points): ShownPoint(points[index])
        case .shown(let points): points[index]
        }
    }

    /// Roughly.
    var bytes: Int {
        switch content {
        case .stored(let points): points.bytes
        case .shown(let points):
            points.reduce(points.count * MemoryLayout<ShownPoint>.stride) { $0 + $1.stored.attributeBytes }
        }
    }
}

extension StoredPoint {
    /// Roughly, of what lies apart from the point.
    fileprivate var attributeBytes: Int { 96 * point.attributes.count }
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
}
