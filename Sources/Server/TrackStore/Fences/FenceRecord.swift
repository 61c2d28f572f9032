package import Geofencing
package import TrackModel

/// A fence of a service, as a store has it. Whom it watches is in its definition.
package struct FenceRecord: Hashable, Sendable {
    package var fence: Fence
    /// The number of the fence's last change. Each change of a fence of a service has a greater number than every change
    /// before.
    package var version: Int64
    /// Since when the fence watches every entity; nil when it does not.
    package var everyoneSince: Timestamp?

    package init(fence: Fence, version: Int64, everyoneSince: Timestamp?) {
        self.fence = fence
        self.version = version
        self.everyoneSince = everyoneSince
    }
}

/// A fence that watches an entity by its name.
package struct SubjectFence: Hashable, Sendable {
    package var record: FenceRecord
    /// Since when the fence watches the entity: earlier points are not judged by the fence.
    package var since: Timestamp

    package init(record: FenceRecord, since: Timestamp) {
        self.record = record
        self.since = since
    }
}

/// Which fences of a service are meant; all conditions must hold.
package struct FenceFilter: Hashable, Sendable {
    package enum Watch: Hashable, Sendable {
        /// Whomever the fence watches.
        case any
        case nobody
        /// One entity or more, by name.
        case named
        /// More than one entity, by name.
        case several
        case everyone
        /// This entity alone.
        case only(String)
        /// This entity by name, alone or with others.
        case naming(String)
        /// This entity: by name, or because the fence watches everyone.
        case watching(String)
    }

    /// Who made the fence.
    package enum Maker: Hashable, Sendable {
        case anyone
        /// The vehicle with this name, through its session.
        case vehicle(String)
        /// The operator, or another vehicle than this one.
        case otherThan(String)
    }

    /// Nil: any number. Unknown numbers match nothing. At most ``FenceRules/mostNumbers`` different ones.
    package var fences: [Int32]?
    package var watch: Watch
    /// Only fences with a greater number.
    package var after: Int32
    package var maker: Maker

    package init(fences: [Int32]? = nil, watch: Watch = .any, after: Int32 = 0, maker: Maker = .anyone) {
        self.fences = fences
        self.watch = watch
        self.after = after
        self.maker = maker
    }
}

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
    package var fences: [[SubjectFence]]
    /// Those that are missing in ``fences``.
    package var unreadable: [UnreadableFence]

    package init(version: Int64, fences: [[SubjectFence]], unreadable: [UnreadableFence] = []) {
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

/// The numbers that bound the fences of a store.
package enum FenceRules {
    /// Most fences of a service that watch everyone.
    package static let mostPublic = 100_000
    /// Most fences that watch an entity by name.
    package static let mostNaming = 1000
    /// Most different numbers of a filter.
    package static let mostNumbers = 10_000
    /// Milliseconds for which a store can tell what has changed: 30 days.
    package static let noticesKept: Int64 = 30 * 86_400_000
    /// Milliseconds that an alarm stays in the history: 7 days.
    package static let history: Int64 = 7 * 86_400_000

    /// From when on a fence that is made now judges points. The API's times of points are whole seconds, so the second in which a
    /// fence is made belongs to it.
    package static func watchStart(at now: Timestamp) -> Timestamp { Timestamp(seconds: now.seconds) }

    /// From when on a fence judges the points of an entity that it begins to watch now. `latest`: the time of the entity's newest
    /// stored point. When that point is of this second, nobody could tell later whether the fence has judged it: then the
    /// fence begins at its very time.
    package static func watchStart(at now: Timestamp, latest: Timestamp?) -> Timestamp {
        let start = watchStart(at: now)
        guard let latest, latest >= start else { return start }
        return now
    }
}

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
