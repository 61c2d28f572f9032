package import TrackModel

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

/// Finds entities by their latest positions, their texts and their values.
package protocol EntitySearchStore: Sendable {
    /// Exact: no entity is missed, none too many is found, whatever is stored meanwhile; the page and the total are of one
    /// moment. Nothing for an unknown service. Throws `.tooManyNames` beyond ``EntityFilter/maximumNames``.
    func search(
        _ search: EntitySearch, in service: ServiceID, page: Page
    ) async throws(TrackStoreError) -> EntityFindings
}

/// Texts as a search compares them: capital and small letters are the same.
package enum SearchText {
    /// Small letters, scalar by scalar. The result depends on the scalars alone, so what is indexed once is found again.
    package static func folded(_ text: String) -> [UInt8] {
        var text = text
        let plain: [UInt8]? = text.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            return bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        }
        return plain ?? text.unicodeScalars.flatMap { $0.properties.lowercaseMapping.utf8 }
    }

    /// Whether a folded text holds a folded part; every text holds the empty one.
    package static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        var start = 0
        while start + part.count <= text.count {
            guard let next = text[start...(text.count - part.count)].firstIndex(of: first) else { return false }
            if text[next..<(next + part.count)].elementsEqual(part) { return true }
            start = next + 1
        }
        return false
    }
}
