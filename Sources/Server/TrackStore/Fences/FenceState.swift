/// What the points of an entity are judged from: see ``IngestBatch/fences``.
package struct FenceState: Hashable, Sendable {
    /// See ``IngestOutcome/stored(through:version:)``; 0 for an entity that nothing was stored for, or that does not exist.
    package var version: Int64
    /// As the last batch that had a fence state left it; nil: none had. The store does not look into it.
    package var fences: [UInt8]?

    package init(version: Int64, fences: [UInt8]?) {
        self.version = version
        self.fences = fences
    }
}
