/// Which entities to find, and in which order; all conditions must hold.
package struct EntitySearch: Hashable, Sendable {
    package var filter: EntityFilter
    /// A part of the name or of the description, see ``SearchText``; empty: any.
    package var keyword: String
    /// Where the latest position is; entities without one are in no area. Nil: anywhere, or nowhere yet.
    package var area: SearchArea?
    package var order: EntityOrder

    package init(
        filter: EntityFilter = EntityFilter(), keyword: String = "", area: SearchArea? = nil,
        order: EntityOrder = EntityOrder()
    ) {
        self.filter = filter
        self.keyword = keyword
        self.area = area
        self.order = order
    }
}

/// How entities are sorted. Entities without a value, or with an empty one, come last in both directions; equal ones by their
/// names, ascending.
/// Texts compare by the bytes of UTF-8.
package struct EntityOrder: Hashable, Sendable {
    package enum Key: Hashable, Sendable {
        case name, description
        /// Of the latest position.
        case time
        /// From the centre of a search around a place; in other searches no entity has a distance.
        case distance
        /// Of an entity column.
        case value(String)
    }

    package var key: Key
    package var isDescending: Bool

    package init(_ key: Key = .name, isDescending: Bool = false) {
        self.key = key
        self.isDescending = isDescending
    }
}

/// A page of what was found.
package struct EntityFindings: Hashable, Sendable {
    /// Without the bounds of the page.
    package var total: Int
    package var entities: [FoundEntity]

    package init(total: Int, entities: [FoundEntity]) {
        self.total = total
        self.entities = entities
    }
}

package struct FoundEntity: Hashable, Sendable {
    package var record: EntityRecord
    /// Metres from the centre of a search around a place.
    package var distance: Double?

    package init(_ record: EntityRecord, in area: SearchArea?) {
        self.record = record
        distance = record.latest.flatMap { area?.distance(to: KnownPlace($0.point)) }
    }
}
