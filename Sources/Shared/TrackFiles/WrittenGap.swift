/// A time without points, for a file. Only GeoJSON has a place for it: a feature without a geometry (RFC 7946, 3.2).
package struct WrittenGap: Hashable, Sendable {
    /// Milliseconds since 1970.
    package var from: Int64
    package var until: Int64
    /// By the names of the Web API.
    package var reason: String
    package var detail: String?
    package var lostPoints: Int64?

    package init(from: Int64, until: Int64, reason: String, detail: String? = nil, lostPoints: Int64? = nil) {
        (self.from, self.until, self.reason) = (from, until, reason)
        (self.detail, self.lostPoints) = (detail, lostPoints)
    }
}
