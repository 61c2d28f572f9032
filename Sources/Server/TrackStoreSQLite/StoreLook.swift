import Dispatch
import Foundation
import GRDB
package import TrackModel
package import TrackStore

/// What can be seen of a store's file without changing it: also while a server uses it, and when an older program made it.
package struct StoreLook: Sendable {
    package static let knownSchema = Schema.currentVersion

    package let schema: Int
    /// What SQLite's quick check of the file found, at most ten; nil: it did not end in time.
    package let problems: [String]?
    /// Nobody could write within the patience.
    package let isHeld: Bool
    /// When the server received the newest stored points.
    package let newestReceived: Timestamp?
    /// The newest positions of entities, at most ``mostPlaces``.
    package let places: [KnownPlace]
    package let callbacks: [WaitingCallbacks]
    /// By their services.
    package let access: [VehicleAccess]
    package let health: [VehicleHealth]
    package let devices: [DeviceRecord]

    package static let mostPlaces = 8
    /// Seconds that others may write at a stretch.
    package static let longestHold = 5.0

    private static let everything = Page(offset: 0, limit: .max)

    /// The alarms of a service that wait to be sent to its URL.
    package struct WaitingCallbacks: Hashable, Sendable {
        package let service: ServiceID
        package let target: CallbackTarget
        package let count: Int
        /// When the oldest one was sent in vain first; nil: it was not sent yet.
        package let firstTried: Timestamp?
    }

    /// How the vehicles of a service may log in.
    package struct VehicleAccess: Hashable, Sendable {
        package let service: ServiceID
        /// Devices that may log in.
        package let devices: Int
        /// Devices that wait for a person, and when the first of them was made.
        package let pending: Int
        package let oldestPending: Timestamp?
        /// Tokens that may be used and have an end, by their numbers.
        package let tokenEnds: [Int64: Timestamp]
        /// Access keys that let any box log in as any vehicle, by their numbers.
        package let keys: [String]
    }

    /// Looks at a file. `patience`: seconds for the quick check, which reads all of it, and for others who write.
    package init(path: String, patience: Double) async throws(TrackStoreError) {
        do {
            try StoreFile.prepare(path, makesMissing: false)
            // Closed last, because only a connection that may write takes the log away again.
            let writer = try? Self.open(path, patience, isReadOnly: false)
            defer { try? writer?.close() }
            if let writer {
                isHeld = try await Self.isHeld(writer)
            } else {
                isHeld = false
            }
            let file = try Self.open(path, patience, isReadOnly: true)
            defer { try? file.close() }
            let schema = try await file.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
            self.schema = schema
            problems = try await Self.problems(file, patience: patience)
            // Tables of earlier schemas have other columns.
            guard problems?.isEmpty ?? true, schema == Schema.currentVersion else {
                (newestReceived, places, callbacks, access) = (nil, [], [], [])
                (health, devices) = ([], [])
                return
            }
            newestReceived = try await file.read { database in
                try Int64.fetchOne(database, sql: "SELECT received FROM counter").map { Timestamp(milliseconds: $0) }
            }
            places = try await file.read(Self.places)
            callbacks = try await file.read(Self.callbacks)
            access = try await file.read(Self.access)
            health = try await file.read { database in
                VehicleHealth.sorted(
                    try SQLiteTrackStore.health(in: nil, after: nil, limit: .max, database).vehicles)
            }
            devices = try await file.read {
                try SQLiteTrackStore.devices(matching: DeviceFilter(), page: Self.everything, $0).devices
            }
        } catch {
            throw .translated(error, path: path)
        }
    }

    private static func problems(_ file: DatabaseQueue, patience: Double) async throws -> [String]? {
        let end = DispatchWorkItem { file.interrupt() }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: end)
        defer { end.cancel() }
        do {
            let found = try await file.read { try String.fetchAll($0, sql: "PRAGMA quick_check(10)") }
            return found.filter { $0 != "ok" }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            return nil
        }
    }

    private static func open(_ path: String, _ patience: Double, isReadOnly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(min(patience, longestHold))
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Asks for the right to write, and gives it back.
    private static func isHeld(_ writer: DatabaseQueue) async throws -> Bool {
        do {
            try await writer.writeWithoutTransaction { database in
                try database.beginTransaction(.immediate)
                try database.rollback()
            }
            return false
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return true
        }
    }

    private static func places(_ database: Database) throws -> [KnownPlace] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT latitude, longitude, datum FROM state WHERE time IS NOT NULL ORDER BY time DESC LIMIT \(mostPlaces)
                """)
        return rows.compactMap { row in
            guard let latitude = Int32(exactly: row[0] as Int64), let longitude = Int32(exactly: row[1] as Int64),
                let coordinate = Coordinate(latitudeE7: latitude, longitudeE7: longitude),
                let type = CoordinateType.allCases.first(where: { $0.number == row[2] as Int? })
            else { return nil }
            return KnownPlace(coordinate, type)
        }
    }

    private static func callbacks(_ database: Database) throws -> [WaitingCallbacks] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT t.service, t.url, t.secret, (SELECT COUNT(*) FROM callback c WHERE c.service = t.service),
                    (SELECT MIN(first_tried) FROM callback c WHERE c.service = t.service)
                FROM callback_target t ORDER BY t.service
                """)
        return rows.compactMap { row in
            guard let service = ServiceID(rawValue: row[0]) else { return nil }
            let first: Int64? = row[4]
            return WaitingCallbacks(
                service: service, target: CallbackTarget(url: row[1], secret: row[2]), count: row[3],
                firstTried: first.map(Timestamp.init(milliseconds:)))
        }
    }

    private static func access(_ database: Database) throws -> [VehicleAccess] {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        var keys: [Int64: [String]] = [:]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT service, hash FROM access_key
                WHERE disabled = 0 AND secret IS NULL AND scopes & ? <> 0 AND (ends IS NULL OR ends > ?)
                ORDER BY created, hash
                """,
            arguments: [KeyScopes.legacyDevice.rawValue, now])
        while let row = try rows.next() {
            keys[row[0], default: []].append(AccessKeyHash(bytes: [UInt8](row[1] as Data)).number)
        }
        let services = try Row.fetchAll(
            database,
            sql: """
                SELECT s.id, COUNT(d.id) FILTER (WHERE d.pending = 0), COUNT(d.id) FILTER (WHERE d.pending = 1),
                    MIN(d.created) FILTER (WHERE d.pending = 1)
                FROM service s LEFT JOIN device d ON d.service = s.id AND d.state = 0 WHERE s.deletion IS NULL
                GROUP BY s.id ORDER BY s.id
                """)
        var ends: [Int64: [Int64: Timestamp]] = [:]
        let tokens = try Row.fetchAll(
            database,
            sql: "SELECT service, number, ends FROM token WHERE revoked IS NULL AND used < uses AND ends > ?",
            arguments: [now])
        for row in tokens { ends[row[0], default: [:]][row[1]] = Timestamp(milliseconds: row[2]) }
        return services.compactMap { row in
            ServiceID(rawValue: row[0]).map {
                VehicleAccess(
                    service: $0, devices: row[1], pending: row[2],
                    oldestPending: (row[3] as Int64?).map(Timestamp.init(milliseconds:)),
                    tokenEnds: ends[row[0]] ?? [:],
                    keys: keys[row[0]] ?? [])
            }
        }
    }
}
