import SQLDatabase
import TrackModel
import TrackStore
import TrackWire

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

extension SQLiteTrackStore {
    /// The entities with the values of their columns, in their order.
    static func records(_ contents: [EntityContent], _ database: any SQLConnection) throws -> [EntityRecord] {
        let values = try values(of: contents.map(\.number), database)
        return try contents.map { try $0.record(values: values[$0.number] ?? [:]) }
    }
}
