/// What is remembered of one entity and the fences of the box, as bytes that the journal does not read.
package struct FenceState: Hashable, Sendable {
    package var entity: String
    /// The newest point that was judged, by GNSS time, milliseconds since 1970.
    package var time: Int64
    package var memory: [UInt8]

    package init(entity: String, time: Int64, memory: [UInt8]) {
        self.entity = entity
        self.time = time
        self.memory = memory
    }

    /// Entities whose states the journal keeps. A box runs as one entity, and rarely as another.
    package static let maximumEntities = 16
}
