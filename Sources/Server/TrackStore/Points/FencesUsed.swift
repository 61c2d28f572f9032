package import TrackModel

/// A vehicle judged its points that are later than a time by a version of the fences, up to the next use.
package struct FencesUsed: Hashable, Sendable {
    /// See ``FenceStore/fences(watching:page:)``.
    package var version: Int64
    package var after: Timestamp
    /// The version that the vehicle had before; 0: none.
    package var base: Int64

    package init(version: Int64, after: Timestamp, base: Int64 = 0) {
        self.version = version
        self.after = after
        self.base = base
    }
}
