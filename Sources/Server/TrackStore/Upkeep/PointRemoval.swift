/// What one call of ``StoreUpkeep/removePoints(of:before:after:limit:)`` did.
package struct PointRemoval: Hashable, Sendable {
    /// Points that are gone.
    package var removed: Int
    /// Where the next call goes on; nil: everything was looked at.
    package var mark: RemovalMark?

    package init(removed: Int, mark: RemovalMark? = nil) { (self.removed, self.mark) = (removed, mark) }
}

/// How far the removal of old points has looked: entities in the order of their names, and chunks in the order of the store.
package struct RemovalMark: Hashable, Sendable {
    /// The entity that was looked at last.
    package let entity: String
    /// The last chunk of it that was looked at; nil: all of the entity is done.
    package let chunk: Chunk?

    package struct Chunk: Hashable, Sendable {
        package let firstTime: Int64
        package let id: Int64

        package init(firstTime: Int64, id: Int64) { (self.firstTime, self.id) = (firstTime, id) }
    }

    package init(entity: String, chunk: Chunk? = nil) { (self.entity, self.chunk) = (entity, chunk) }
}
