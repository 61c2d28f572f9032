package import TrackModel

/// What a process leaves to the next one about a gap that is still open.
package struct GapMemory: Hashable, Sendable {
    package var entity: String
    /// The time of the entity's last point; nil when this process made none and was told of none.
    package var since: Timestamp?
    /// What is known of the time from then on, in order.
    package var spans: [GapSpan]

    package init(entity: String, since: Timestamp?, spans: [GapSpan]) {
        self.entity = entity
        self.since = since
        self.spans = spans
    }
}
