package import TrackModel

/// A session's right to store points of one stream for one entity: see ``PointStore/openStream(_:of:in:at:)``.
package struct StreamClaim: Hashable, Sendable {
    /// Streams of an entity that are remembered. With one more the store forgets the one that was opened longest ago: a session of
    /// it ends, and begins as with a new stream. An agent makes a new stream only when its cache is lost.
    package static let mostStreams = 256

    /// Greater than the epoch of every earlier claim of the stream for an entity of this name, also for one that was
    /// deleted since.
    package var epoch: Int64
    /// Everything of the stream up to this sequence is stored, was refused, or was never sent. It may be less than what is
    /// stored and is never more; 0 when nothing is known of the stream.
    package var storedThrough: UInt64
    /// The entity's version: see ``IngestOutcome/stored(through:version:)``.
    package var version: Int64
    /// The entity's fence state as the last batch that had one left it; the store does not look into it.
    package var fences: [UInt8]?

    package init(epoch: Int64, storedThrough: UInt64, version: Int64, fences: [UInt8]? = nil) {
        self.epoch = epoch
        self.storedThrough = storedThrough
        self.version = version
        self.fences = fences
    }
}

/// Names a claim that a session believes to have.
package struct HeldClaim: Hashable, Sendable {
    package var stream: StreamID
    package var epoch: Int64

    package init(stream: StreamID, epoch: Int64) {
        self.stream = stream
        self.epoch = epoch
    }
}
