import Dispatch
import SQLDatabase
import StoreRecords
package import TrackModel
package import TrackStore

/// What can be seen of a store's file without changing it: also while a server uses it, and when an older program made it.
package struct StoreFileInspection: Sendable {
    package static let knownSchema = Schema.currentVersion

    package let schema: Int
    /// What SQLite's quick check of the file found, at most ten; nil: it did not end in time.
    package let problems: [String]?
    /// Nobody could write within the timeout.
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

    /// Looks at a file. `timeout`: seconds for the quick check, which reads all of it, and for others who write.
    package init(path: String, timeout: Double, at now: Timestamp) async throws(TrackStoreError) {
        do {
            try StoreFile.prepare(path, makesMissing: false)
            // Closed last, because only a connection that may write takes the log away again.
            let writer = try? SQLiteConnection(path: path, .readWrite, busyTimeout: min(timeout, Self.longestHold))
            defer { writer?.close() }
            isHeld = try writer.map(Self.isHeld) ?? false
            let file = try SQLiteQueue(path: path, .readOnly, busyTimeout: min(timeout, Self.longestHold))
            defer { file.close() }
            let schema = try await file.read { try $0.value(Int.self, "PRAGMA user_version") ?? 0 }
            self.schema = schema
            problems = try await Self.problems(file, timeout: timeout)
            // Tables of earlier schemas have other columns.
            guard problems?.isEmpty ?? true, schema == Schema.currentVersion else {
                (newestReceived, places, callbacks, access) = (nil, [], [], [])
                (health, devices) = ([], [])
                return
            }
            newestReceived = try await file.read { database in
                try database.value(Int64.self, "SELECT received FROM counter").map { Timestamp(milliseconds: $0) }
            }
            places = try await file.read(Self.places)
            callbacks = try await file.read(Self.callbacks)
            access = try await file.read { try Self.access($0, at: now) }
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

    private static func problems(_ file: SQLiteQueue, timeout: Double) async throws -> [String]? {
        let interruption = SQLiteInterruption()
        let end = DispatchWorkItem { interruption.interrupt() }
        DispatchQueue.global().asyncAfter(deadline: .now() + timeout, execute: end)
        defer { end.cancel() }
        do {
            let found = try await file.read(interruption: interruption) {
                try $0.values(String.self, "PRAGMA quick_check(10)")
            }
            return found.filter { $0 != "ok" }
        } catch let error as SQLError where error.kind == .interrupted {
            return nil
        }
    }

    /// Asks for the right to write, and gives it back.
    private static func isHeld(_ writer: SQLiteConnection) throws -> Bool {
        do {
            try writer.transaction {}
            return false
        } catch let error as SQLError where error.kind == .busy {
            return true
        }
    }

    private static func places(_ database: any SQLConnection) throws -> [KnownPlace] {
        let places = try database.rows(
            """
            SELECT latitude, longitude, datum FROM state WHERE time IS NOT NULL ORDER BY time DESC LIMIT \(mostPlaces)
            """
        ) { row -> KnownPlace? in
            let (latitude, longitude, datum): (Int64, Int64, Int?) = try (row[0], row[1], row[2])
            guard let latitude = Int32(exactly: latitude), let longitude = Int32(exactly: longitude),
                let coordinate = Coordinate(latitudeE7: latitude, longitudeE7: longitude),
                let type = CoordinateType.allCases.first(where: { $0.number == datum })
            else { return nil }
            return KnownPlace(coordinate, type)
        }
        return places.compactMap(\.self)
    }

    private static func callbacks(_ database: any SQLConnection) throws -> [WaitingCallbacks] {
        let waiting = try database.rows(
            """
            SELECT t.service, t.url, t.secret, (SELECT COUNT(*) FROM callback c WHERE c.service = t.service),
                (SELECT MIN(first_tried) FROM callback c WHERE c.service = t.service)
            FROM callback_target t ORDER BY t.service
            """
        ) { row -> WaitingCallbacks? in
            guard let service = try ServiceID(rawValue: row[0]) else { return nil }
            let first: Int64? = try row[4]
            return try WaitingCallbacks(
                service: service, target: CallbackTarget(url: row[1], secret: row[2]), count: row[3],
                firstTried: first.map(Timestamp.init(milliseconds:)))
        }
        return waiting.compactMap(\.self)
    }

    private static func access(_ database: any SQLConnection, at now: Timestamp) throws -> [VehicleAccess] {
        var keys: [Int64: [String]] = [:]
        try database.forEach(
            """
            SELECT service, hash FROM access_key
            WHERE disabled = 0 AND secret IS NULL AND scopes & ? <> 0 AND (ends IS NULL OR ends > ?)
            ORDER BY created, hash
            """,
            [KeyScopes.legacyDevice.rawValue, now.milliseconds]
        ) { row in
            try keys[row[0], default: []].append(AccessKeyHash(bytes: row[1]).number)
        }
        var ends: [Int64: [Int64: Timestamp]] = [:]
        try database.forEach(
            "SELECT service, number, ends FROM token WHERE revoked IS NULL AND used < uses AND ends > ?",
            [now.milliseconds]
        ) { row in
            try ends[row[0], default: [:]][row[1]] = Timestamp(milliseconds: row[2])
        }
        let services = try database.rows(
            """
            SELECT s.id, COUNT(d.id) FILTER (WHERE d.pending = 0), COUNT(d.id) FILTER (WHERE d.pending = 1),
                MIN(d.created) FILTER (WHERE d.pending = 1)
            FROM service s LEFT JOIN device d ON d.service = s.id AND d.state = 0 WHERE s.deletion IS NULL
            GROUP BY s.id ORDER BY s.id
            """
        ) { row -> VehicleAccess? in
            try ServiceID(rawValue: row[0]).map {
                try VehicleAccess(
                    service: $0, devices: row[1], pending: row[2],
                    oldestPending: (row[3] as Int64?).map(Timestamp.init(milliseconds:)),
                    tokenEnds: ends[row[0]] ?? [:],
                    keys: keys[row[0]] ?? [])
            }
        }
        return services.compactMap(\.self)
    }
}
