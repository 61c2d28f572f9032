package import Geofencing
package import TrackModel

/// A fence as an entity had it before a change.
package struct FormerFence: Hashable, Sendable {
    package var fence: Fence
    /// Since when the fence watched the entity.
    package var since: Timestamp
    /// When a change first gave the fence another revision, deleted it, or ended its watch of the entity. A new name alone does
    /// not count. When nothing of that has happened, when the fence was last changed.
    package var replaced: Timestamp

    package init(fence: Fence, since: Timestamp, replaced: Timestamp) {
        self.fence = fence
        self.since = since
        self.replaced = replaced
    }
}

/// How the fences that watch an entity have changed since a version.
package struct FenceDifference: Hashable, Sendable {
    /// A fence that has changed and that watches the entity, or watched it then.
    package struct Change: Hashable, Sendable {
        package var fence: Int32
        /// Nil: the fence did not watch the entity then, or what it was cannot be read.
        package var former: FormerFence?
        /// Nil: the fence does not watch the entity now, or cannot be read, so that nobody can judge it.
        package var present: SubjectFence?

        package init(fence: Int32, former: FormerFence?, present: SubjectFence?) {
            self.fence = fence
            self.former = former
            self.present = present
        }
    }

    /// Of now.
    package var version: Int64
    /// In the order of their numbers; nil when the store does not know the version, or not any more.
    package var changes: [Change]?
    /// Fences of which something is missing in ``changes``.
    package var unreadable: [UnreadableFence]

    package init(version: Int64, changes: [Change]?, unreadable: [UnreadableFence] = []) {
        self.version = version
        self.changes = changes
        self.unreadable = unreadable
    }
}
