import Geofencing
package import TrackModel

/// A fence that a store has and cannot read.
package struct UnreadableFence: Hashable, Sendable {
    package var fence: Int32
    /// Why, a sentence.
    package var reason: String

    package init(fence: Int32, reason: String) {
        self.fence = fence
        self.reason = reason
    }
}

/// A page of fences, without those that cannot be read.
package struct ReadableFences: Hashable, Sendable {
    package var total: Int
    package var fences: [FenceRecord]
    /// Those that are missing in ``fences``, in the order of their numbers.
    package var unreadable: [UnreadableFence]

    package init(total: Int = 0, fences: [FenceRecord] = [], unreadable: [UnreadableFence] = []) {
        self.total = total
        self.fences = fences
        self.unreadable = unreadable
    }

    /// Of all fences of the page, readable or not; nil for an empty page.
    package var last: Int32? {
        [fences.last?.fence.id, unreadable.last?.fence].compactMap(\.self).max()
    }

    /// Why some fences of the page are missing, a sentence each.
    package var problems: [String] { unreadable.map(\.reason) }
}

/// The fences that watch some entities by name.
package struct NamingFences: Hashable, Sendable {
    /// The number of the last change of any fence, as they were read.
    package var version: Int64
    /// One list an entity, each in the order of the fences' numbers.
    package var fences: [[WatchedFence]]
    /// Those that are missing in ``fences``.
    package var unreadable: [UnreadableFence]

    package init(version: Int64, fences: [[WatchedFence]], unreadable: [UnreadableFence] = []) {
        self.version = version
        self.fences = fences
        self.unreadable = unreadable
    }
}

extension FenceStore {
    /// All fences that match, page by page: a change between two pages hides no other fence.
    package func allReadableFences(
        in service: ServiceID, matching filter: FenceFilter, atOnce: Int = 10_000
    ) async throws(TrackStoreError) -> ReadableFences {
        var (found, filter) = (ReadableFences(), filter)
        while true {
            let page = try await readableFences(in: service, matching: filter, page: Page(offset: 0, limit: atOnce))
            found.fences += page.fences
            found.unreadable += page.unreadable
            guard let last = page.last, page.fences.count + page.unreadable.count == atOnce else { break }
            filter.after = last
        }
        found.total = found.fences.count + found.unreadable.count
        return found
    }
}
