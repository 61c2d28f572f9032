package import NIOCore
package import TrackModel

extension MonotonicTime {
    /// A time of the event loop's clock, in whole milliseconds.
    package init(_ deadline: NIODeadline) {
        self.init(milliseconds: Int64(deadline.uptimeNanoseconds / 1_000_000))
    }
}

extension SystemTime {
    init(_ clock: SystemClock) {
        self.init(milliseconds: clock.milliseconds)
    }
}
