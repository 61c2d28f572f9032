import SQLDatabase
import TrackModel
import TrackStore
import TrackWire

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

/// An entity as its row tells it: without the values of its columns, and its latest point still packed.
struct EntityContent {
    let number: Int64
    private let name: String
    private let description: String
    private let created: Int64
    private let modified: Int64
    private let received: Int64?
    private let payload: [UInt8]?

    /// The columns that ``init(_:)`` reads, the first of their row. `e` is the table `entity`; `latest`: those of the latest
    /// position, when it was received and its point.
    static func columns(latest: String) -> String {
        "e.id, e.name, e.description, e.created, e.modified, " + latest
    }

    /// When `l` and `h` may both be there, or neither.
    /// There is a hint only while it is later than the latest stored point.
    static let joinLatest = """
         LEFT JOIN state l ON l.entity = e.id LEFT JOIN hint h ON h.entity = e.id
        """
    /// What ``init(_:)`` reads.
    static let selection = "SELECT " + columns(latest: latest) + " FROM entity e" + joinLatest
    static let latest = "COALESCE(h.received, l.received), COALESCE(h.payload, l.payload)"

    init(_ row: SQLRow) throws {
        number = try row[0]
        name = try row[1]
        description = try row[2]
        created = try row[3]
        modified = try row[4]
        received = try row[5]
        payload = try row[6]
    }

    /// Of memory, roughly.
    var bytes: Int {
        MemoryLayout<Self>.stride + name.utf8.count + description.utf8.count + (payload?.count ?? 0)
    }

    /// Throws `.corrupt`.
    func record(values: [String: String]) throws -> EntityRecord {
        var latest: StoredPoint?
        if let payload {
            do {
                let point = try PointRecord.decode(payload)
                latest = StoredPoint(point, received: Timestamp(milliseconds: received ?? 0))
            } catch {
                throw TrackStoreError(.corrupt, "an entity's latest point cannot be read: \(error)")
            }
        }
        return EntityRecord(
            name: name, description: description, created: Timestamp(milliseconds: created),
            modified: Timestamp(milliseconds: modified), latest: latest, values: values)
    }
}

extension SQLRecordStore {
    /// The entities with the values of their columns, in their order.
    static func records(_ contents: [EntityContent], _ database: any SQLConnection) throws -> [EntityRecord] {
        let values = try values(of: contents.map(\.number), database)
        return try contents.map { try $0.record(values: values[$0.number] ?? [:]) }
    }
}
