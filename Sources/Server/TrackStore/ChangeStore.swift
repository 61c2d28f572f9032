package import TrackModel

/// The change feed of a store: the changes that any process has made, for readers that keep a copy of a record or a session that
/// depends on it.
///
/// A change stands in the feed from the commit of its own transaction on. A change may be read twice, and none is left out.
package protocol ChangeStore: Sendable {
    /// The changes of some kinds after a cursor, at most `limit` of each kind, the changes of a kind in their order. A reader without
    /// a cursor gets none: see ``StoreChanges/unknown``. An access key whose end has come by `now` counts as changed. Costs next to nothing when
    /// nothing has changed. Throws `.failed` for a cursor that another store made.
    func changes(
        of kinds: Set<StoreChange.Kind>, after cursor: StoreCursor?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoreChanges
}

package enum StoreChange: Hashable, Sendable {
    /// Keys of the service were added, ended or made valid again, or have reached their end.
    case keys(of: ServiceID)
    /// The service was deleted.
    case service(ServiceID)
    /// The device was added, changed, revoked or forgotten. A login and a certificate for the same key are no changes.
    case device(DeviceID)
    case push(PushQueuedNotice)
    case fence(FenceChangeNotice)

    package enum Kind: Hashable, Sendable, CaseIterable {
        /// Keys, services and devices: who may log in.
        case access
        case pushes
        case fences
    }
}

/// An answer of ``ChangeStore``.
package struct StoreChanges: Sendable {
    package var changes: [StoreChange]
    /// Kinds of which some changes after the cursor are not there any more: everything of these kinds may have changed. Without a
    /// cursor, all kinds that were asked for.
    package var unknown: Set<StoreChange.Kind>
    /// More changes wait: ask again at once.
    package var hasMore: Bool
    /// The cursor to ask after next. It keeps its place in the kinds that were not asked for.
    package var through: StoreCursor

    package init(changes: [StoreChange], unknown: Set<StoreChange.Kind>, hasMore: Bool, through: StoreCursor) {
        (self.changes, self.unknown, self.hasMore, self.through) = (changes, unknown, hasMore, through)
    }
}

/// How far a reader has read an answer that a store gives in parts: see ``ChangeStore`` and ``PushStore``.
///
/// A store makes its cursors of types of its own, which nobody else can name. So only the store can read a cursor, and a store
/// that several servers share may keep in it whatever it needs: a number is no promise there, because changes do not become
/// visible in the order of their numbers.
package struct StoreCursor: Hashable, Sendable {
    private let content: any Hashable & Sendable

    /// For stores alone.
    package init(_ content: some Hashable & Sendable) {
        self.content = content
    }

    /// For stores alone. Throws `.failed` when another store made the cursor.
    package func content<Content: Hashable & Sendable>(
        as type: Content.Type
    ) throws(TrackStoreError) -> Content {
        guard let own = content as? Content else {
            throw TrackStoreError(.failed, "the cursor was made by another store")
        }
        return own
    }

    package static func == (one: StoreCursor, other: StoreCursor) -> Bool { one.content.equals(other.content) }

    package func hash(into hasher: inout Hasher) { content.hash(into: &hasher) }
}

extension Equatable {
    fileprivate func equals(_ other: any Sendable) -> Bool { self == other as? Self }
}

/// A message that was queued: whose sessions are to look for it.
package struct PushQueuedNotice: Hashable, Sendable {
    package var message: Int64
    package var service: ServiceID
    /// Nil: so many that all sessions of the service are to look.
    package var entities: [String]?

    package init(message: Int64, service: ServiceID, entities: [String]?) {
        self.message = message
        self.service = service
        self.entities = entities
    }

    /// With more targets than this, the notice has no names.
    package static let maximumEntities = 100
}

/// A fence that was made, changed or deleted.
package struct FenceChangeNotice: Hashable, Sendable {
    package var service: ServiceID
    package var fence: Int32
    /// See ``FenceRecord/version``.
    package var version: Int64
    /// Whether the fence watched everyone before the change, or watches everyone after it.
    package var concernsEveryone: Bool
    /// Whom the fence watched by name before the change, or watches after it; nil: more than ``mostEntities``.
    package var entities: [String]?

    package init(
        service: ServiceID, fence: Int32, version: Int64, concernsEveryone: Bool, entities: [String]?
    ) {
        self.service = service
        self.fence = fence
        self.version = version
        self.concernsEveryone = concernsEveryone
        self.entities = entities
    }

    /// With more entities than this, the notice has no names.
    package static let mostEntities = 100
}
