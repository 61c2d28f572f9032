import TrackAnalysis
import TrackModel
import TrackStore

/// The points of a reading in their order. Those of a track as it was uploaded are the store's own, without a copy.
struct ShownPoints: RandomAccessCollection, Sendable {
    private enum Content: Sendable {
        case stored([StoredPoint])
        case shown([ShownPoint])
    }

    private let content: Content

    init(_ stored: [StoredPoint]) {
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

extension [StoredPoint] {
    /// Roughly.
    var bytes: Int { reduce(count * MemoryLayout<StoredPoint>.stride) { $0 + $1.attributeBytes } }
}

extension StoredPoint {
    /// Roughly, of what lies apart from the point.
    fileprivate var attributeBytes: Int { 96 * point.attributes.count }
}

extension TrackColumns {
    /// The columns of stored points. A loop of its own: the generic one is not specialized for another module's points.
    init(_ points: ArraySlice<StoredPoint>) {
        self.init()
        reserve(points.count)
        for stored in points { append(stored.point) }
    }
}
