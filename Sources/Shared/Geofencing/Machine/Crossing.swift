package import TrackModel

/// Where and when an entity crossed the edge of a fence.
package struct Crossing: Hashable, Sendable {
    /// On the edge when it is estimated; else the causing point's.
    package var time: Timestamp
    package var place: Coordinate
    /// True: on the straight way between two points. False: nobody knows better than `earliest` and `time`.
    package var isEstimated: Bool
    /// The crossing was not before; equal to `time` when it is estimated.
    package var earliest: Timestamp
    /// The crossing was not after; equal to `time` when it is estimated.
    package var latest: Timestamp

    /// A crossing that was stored.
    package init(time: Timestamp, place: Coordinate, isEstimated: Bool, earliest: Timestamp, latest: Timestamp) {
        (self.time, self.place, self.isEstimated) = (time, place, isEstimated)
        (self.earliest, self.latest) = (earliest, latest)
    }

    init(at time: Timestamp, _ place: Coordinate) {
        (self.time, self.place, isEstimated) = (time, place, true)
        (earliest, latest) = (time, time)
    }

    /// Known only to lie between two points; `causing` tells it.
    init(between earliest: Timestamp, and latest: Timestamp, causing point: FencePoint) {
        (time, place, isEstimated) = (point.time, point.place, false)
        (self.earliest, self.latest) = (earliest, latest)
    }
}
