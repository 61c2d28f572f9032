import SQLDatabase
import TrackModel
import TrackStore

/// The conditions of a filter as SQL: `e` is the table `entity`, `l` and `h` are `state` and `hint` of the same entity.
struct EntityCondition: Sendable {
    private(set) var sql = "e.service = ?"
    private(set) var arguments: [any SQLConvertible]
    /// One of a few texts, whatever the request says, so a statement of it may be kept.
    let isCommon: Bool
    /// It asks for `l` and `h`.
    let readsLatest: Bool

    /// Throws `.tooManyNames`.
    init(_ filter: EntityFilter, in service: ServiceID) throws(TrackStoreError) {
        arguments = [service.rawValue]
        isCommon = filter.names == nil && filter.values.isEmpty
        readsLatest = filter.activeSince != nil || filter.inactiveSince != nil
        if let names = filter.names {
            let distinct = Set(names.map { EntityKey(service: service, name: $0) }).map(\.name)
            guard distinct.count <= EntityFilter.maximumNames else {
                throw TrackStoreError(
                    .tooManyNames,
                    "a filter takes at most \(EntityFilter.maximumNames) names, this one has \(distinct.count)")
            }
            sql += " AND e.name IN (\(distinct.map { _ in "?" }.joined(separator: ", ")))"
            arguments += distinct
        }
        if let since = filter.activeSince {
            sql += " AND COALESCE(h.time, l.time) >= ?"
            arguments.append(since.milliseconds)
        }
        if let since = filter.inactiveSince {
            sql += " AND COALESCE(h.time, l.time, \(Int64.min)) < ?"
            arguments.append(since.milliseconds)
        }
        for (key, value) in filter.values {
            sql += " AND \(Self.value) = ?"
            arguments += [key, value]
        }
    }

    /// The value of the entity in the column of a key.
    static let value = """
        (SELECT v.value FROM attribute_column c JOIN entity_value v ON v.attribute_column = c.id
            WHERE c.service = e.service AND c.kind = \(ColumnKind.entity.number) AND c.key = ? AND v.entity = e.id)
        """

    /// What stands after ORDER BY, and the values that it binds.
    static func sorting(_ order: EntityOrder) -> (sql: String, arguments: [any SQLConvertible]) {
        let direction = order.isDescending ? " DESC" : ""
        return switch order.key {
        case .name: ("e.name" + direction, [])
        case .description: ("NULLIF(e.description, '')" + direction + " NULLS LAST, e.name", [])
        case .time: ("COALESCE(h.time, l.time)" + direction + " NULLS LAST, e.name", [])
        case .value(let key): ("NULLIF(\(value), '')" + direction + " NULLS LAST, e.name", [key])
        // All are without one.
        case .distance: ("e.name", [])
        }
    }
}
