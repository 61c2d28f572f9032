package import Geodesy
package import TrackModel

/// A curve taken too fast.
package struct SteeringEvent: Hashable, Sendable {
    package enum Turn: String, Hashable, Sendable {
        case left
        case right
        /// The Web API's spelling of "unknown".
        case unknown = "unknow"
    }

    /// The sample at which the sharpest part begins.
    package let index: Int
    package let time: Timestamp
    /// WGS 84.
    package let place: Degrees
    /// m/s² towards the centre of the curve: the largest of the event.
    package let centripetalAcceleration: Double
    /// km/h where it is largest.
    package let speed: Double
    /// By the turn of the whole event.
    package let turn: Turn
}
