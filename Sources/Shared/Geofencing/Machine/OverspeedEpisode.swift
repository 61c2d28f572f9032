internal import TrackModel

/// An entity is faster than the lowest limit of the fences that it is in.
package struct OverspeedEpisode: Hashable, Sendable {
    /// The fence whose limit holds.
    package let fence: Int32
    let revision: Int32
    /// The first point that was too fast.
    let since: Timestamp
    let place: Coordinate
    var isTold: Bool
}
