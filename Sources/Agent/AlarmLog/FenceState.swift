/// What is remembered of one entity and the fences of the box, as bytes that the journal does not read.
package struct FenceState: Hashable, Sendable {
    package var entity: String
    /// The newest point that was judged, by GNSS time, milliseconds since 1970.
    package var time: Int64
    package var memory: [UInt8]
    /// Of the server's fences of this service; nil: of the box's own fences.
    package var service: Int64?

    package init(entity: String, time: Int64, memory: [UInt8], service: Int64? = nil) {
        self.entity = entity
        self.time = time
        self.memory = memory
        self.service = service
    }

    func isAbout(_ other: FenceState) -> Bool {
        service == other.service && entity.utf8.elementsEqual(other.entity.utf8)
    }

    /// Entities whose states the journal keeps. A box runs as one entity, and rarely as another.
    package static let maximumEntities = 16
}
