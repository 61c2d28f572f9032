package import TrackModel

/// How long a request may wait for roads: each call, and all of them together.
package struct RoadDeadlines: Hashable, Sendable {
    /// Milliseconds.
    package static let connect: Int64 = 500
    package static let call: Int64 = 2000
    package static let request: Int64 = 2500
    /// For the latest point, which is polled.
    package static let latest: Int64 = 300

    private let end: MonotonicTime
    private let call: Int64

    package init(start: MonotonicTime, request: Int64 = Self.request, call: Int64 = Self.call) {
        end = start + request
        self.call = call
    }

    /// When a call that begins now must have ended; nil when there is no time left for one.
    package func deadline(at now: MonotonicTime) -> MonotonicTime? {
        now < end ? min(end, now + call) : nil
    }
}
