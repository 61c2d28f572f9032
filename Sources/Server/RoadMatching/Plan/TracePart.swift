/// A stretch of a track in which the engine may find one path.
package struct TracePart: Hashable, Sendable {
    /// Positions in the track.
    package let range: Range<Int>
    /// Positions in the track of the points that are sent, the ends of the range among them; empty when the part stands
    /// at one place and is not sent.
    package let sent: [Int]
}
