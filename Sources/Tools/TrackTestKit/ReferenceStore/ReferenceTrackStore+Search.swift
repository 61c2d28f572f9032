import Geodesy
package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    package func search(
        _ search: EntitySearch, in service: ServiceID, page: Page
    ) throws(TrackStoreError) -> EntityFindings {
        let keyword = SearchText.folded(search.keyword)
        let matches = try records(in: service, matching: search.filter).filter { record in
            if let area = search.area {
                guard let latest = record.latest, area.contains(KnownPlace(latest.point)) else { return false }
            }
            return [record.name, record.description].contains { SearchText.contains(SearchText.folded($0), keyword) }
        }
        let sorted = Self.sorted(matches.map { FoundEntity($0, in: search.area) }, by: search.order)
        return EntityFindings(
            total: sorted.count, entities: Array(sorted.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))))
    }

    /// `found` comes in the order of the names, and what is equal stays so.
    private static func sorted(_ found: [FoundEntity], by order: EntityOrder) -> [FoundEntity] {
        switch order.key {
        case .name: order.isDescending ? found.reversed() : found
        case .description:
            sorted(found, order) {
                $0.record.description.isEmpty ? nil : Array($0.record.description.utf8)
            } by: {
                $0.lexicographicallyPrecedes($1)
            }
        case .time:
            sorted(found, order) {
                $0.record.latest?.point.fix.time
            } by: {
                $0 < $1
            }
        case .distance:
            sorted(found, order) {
                $0.distance
            } by: {
                $0 < $1
            }
        case .value(let key):
            sorted(found, order) {
                $0.record.values[key].flatMap { $0.isEmpty ? nil : Array($0.utf8) }
            } by: {
                $0.lexicographicallyPrecedes($1)
            }
        }
    }

    private static func sorted<Key>(
        _ found: [FoundEntity], _ order: EntityOrder, key: (FoundEntity) -> Key?, by precedes: (Key, Key) -> Bool
    ) -> [FoundEntity] {
        found.enumerated().sorted { left, right in
            switch (key(left.element), key(right.element)) {
            case (let one?, let other?):
                if precedes(one, other) { return !order.isDescending }
                if precedes(other, one) { return order.isDescending }
                return left.offset < right.offset
            case (_?, nil): return true
            case (nil, _?): return false
            case (nil, nil): return left.offset < right.offset
            }
        }.map(\.element)
    }
}
