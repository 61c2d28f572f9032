internal import Geodesy
package import TrackModel

/// Where an entity is with regard to a fence.
package struct FenceStatus: Hashable, Sendable {
    /// As the alarms told it: inside the exit margin it may be `in` a few metres outside.
    package let place: FencePair.Place
    /// The enter's crossing; nil unless inside.
    package let since: Timestamp?
    /// Metres from the last point to the boundary, negative inside.
    package let signedDistance: Double?
    /// Of the last point that the fence judged.
    package let time: Timestamp?
}

extension FenceStatus {
    /// The fence has judged no point of the entity yet.
    package static let unknown = FenceStatus(place: .unknown, since: nil, signedDistance: nil, time: nil)

    /// Of an assumed place: inside by its shape alone.
    package init(of plan: FencePlan, at place: Coordinate) {
        self.init(
            place: plan.shape.contains(place) ? .in : .out, since: nil,
            signedDistance: plan.shape.signedDistance(to: place), time: nil)
    }
}
