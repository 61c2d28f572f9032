package import TrackModel

/// How far a reader has heard of the changes of fences: made by the store, see ``PushMark``.
package typealias FenceMark = PushMark

/// Word of a fence that was made, changed or deleted.
package struct FenceNews: Hashable, Sendable {
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

    /// Beyond so many entities, names are not told.
    package static let mostEntities = 100
}
