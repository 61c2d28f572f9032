package import TrackModel

/// When a stored point can have been made, to tell which point of an entity is the latest.
///
/// Nobody has points of the future: a point that is dated ahead of the server's clock was made when it was received, at the
/// latest. So a wrong date hides no newer point, neither for minutes nor for years.
package struct Recency: Hashable, Comparable, Sendable {
    private let made: Timestamp
    private let time: Timestamp

    package init(_ point: StoredPoint) {
        time = point.point.fix.time
        made = min(time, point.received)
    }

    package static func < (left: Self, right: Self) -> Bool { (left.made, left.time) < (right.made, right.time) }

    /// The latest of the points of one batch, of several the last; nil when there is none.
    ///
    /// A point that is dated ahead gives way to one behind it in the batch that is not, unless that one is older than another.
    package static func latest(of points: [TrackPoint], received: Timestamp) -> TrackPoint? {
        var (past, ahead): (TrackPoint?, TrackPoint?)
        for point in points {
            let time = point.fix.time
            if time > received {
                if ahead.map({ time >= $0.fix.time }) ?? true { ahead = point }
            } else if past.map({ time >= $0.fix.time }) ?? true {
                (past, ahead) = (point, nil)
            }
        }
        return ahead ?? past
    }
}
