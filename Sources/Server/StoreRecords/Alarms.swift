import Geofencing
package import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func alarms(
        in service: ServiceID, matching filter: AlarmFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, alarms: [AlarmRecord]) {
        var condition = " FROM alarm a WHERE a.service = ?"
        var arguments: [any SQLConvertible] = [service.rawValue]
        if !filter.includesStale { condition += " AND a.stale = 0" }
        if let entity = filter.entity {
            condition += " AND a.entity = ?"
            arguments.append(entity)
        }
        if let from = filter.from {
            condition += " AND a.received >= ?"
            arguments.append(from.milliseconds)
        }
        if let through = filter.through {
            condition += " AND a.received <= ?"
            arguments.append(through.milliseconds)
        }
        if let numbers = try FenceCondition.numbers(filter.fences) {
            condition += " AND a.fence IN (\(numbers.map { String($0) }.joined(separator: ", ")))"
        }
        if let source = filter.source {
            condition += " AND a.source = ?"
            arguments.append(Int64(source.rawValue))
        }
        if let actions = filter.actions {
            condition += " AND a.action IN (\(actions.map { _ in "?" }.joined(separator: ", ")))"
            arguments += actions.map(\.rawValue)
        }
        return try await reading { [condition, arguments] database in
            let list =
                "SELECT " + AlarmRecord.selection("a") + condition + " ORDER BY a.received, a.id LIMIT ? OFFSET ?"
            let bounds: [any SQLConvertible] = [max(0, page.limit), max(0, page.offset)]
            return (
                try database.value(Int.self, "SELECT COUNT(*)" + condition, SQLParameters(arguments)) ?? 0,
                try database.rows(list, SQLParameters(arguments + bounds)) { try AlarmRecord($0) }
            )
        }
    }

    package func removeAlarms(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await writing { database in
            // By service, because the index of the history is.
            let numbers = try database.values(
                Int64.self,
                """
                SELECT a.id FROM service s JOIN alarm a ON a.service = s.id AND a.received < ? LIMIT ?
                """, [time.milliseconds, max(0, limit)])
            let callback = try database.statement("DELETE FROM callback WHERE alarm = ?")
            let alarm = try database.statement("DELETE FROM alarm WHERE id = ?")
            for number in numbers {
                try callback.execute([number])
                try alarm.execute([number])
            }
            return numbers.count
        }
    }
}

/// Adds alarms to the tables.
package struct AlarmTable {
    private let database: any SQLConnection
    private let insertion: any SQLStatement
    private let queueing: any SQLStatement

    package init(_ database: any SQLConnection) throws {
        self.database = database
        let columns = AlarmRecord.columns.dropFirst()
        insertion = try database.statement(
            """
            INSERT INTO alarm (service, \(columns.joined(separator: ", ")))
            VALUES (?, \(columns.map { _ in "?" }.joined(separator: ", ")))
            ON CONFLICT (service, key) DO NOTHING RETURNING id
            """)
        queueing = try database.statement(
            "INSERT INTO callback (service, alarm) SELECT service, ? FROM callback_target WHERE service = ?")
    }

    /// Stores alarms whose keys the service does not have, with what they bring about. Returns how many pushes had no room.
    package func add(_ alarms: [CausedAlarm], of entity: String, in service: ServiceID, at now: Timestamp) throws -> Int
    {
        var leftOut = 0
        for caused in alarms {
            var values: SQLParameters = [service.rawValue]
            values += caused.alarm.values(of: entity, received: now)
            guard let number = try insertion.value(Int64.self, SQLParameters(values)) else { continue }
            for push in caused.pushes {
                leftOut += try PushQueue.add(push, in: service, at: now, missing: .passedOver, database).leftOut
            }
            if caused.isCalledBack { try queueing.execute([number, service.rawValue]) }
        }
        return leftOut
    }
}

extension AlarmRecord {
    /// Of the table `alarm`, in the order of ``Alarm/values(of:received:)``.
    static let columns = [
        "id", "entity", "received", "key", "source", "fence", "revision", "name", "group_name", "action",
        "time", "latitude", "longitude", "accuracy", "speed",
        "previous_time", "previous_latitude", "previous_longitude", "previous_accuracy", "previous_speed",
        "previous_received",
        "crossing_time", "crossing_latitude", "crossing_longitude", "crossing_estimated", "crossing_earliest",
        "crossing_latest",
        "inside", "skipped", "speed_limit", "parameters", "stale", "reported",
    ]

    static func selection(_ table: String) -> String {
        columns.map { "\(table).\($0)" }.joined(separator: ", ")
    }

    /// Columns: ``columns``, then perhaps others.
    init(_ row: SQLRow) throws {
        let number: Int64 = try row[0]
        func corrupt() -> TrackStoreError { TrackStoreError(.corrupt, "the alarm \(number) cannot be read") }
        func place(_ column: Int) throws -> Coordinate {
            guard let place = try Coordinate(latitudeE7: row[column], longitudeE7: row[column + 1]) else {
                throw corrupt()
            }
            return place
        }
        let received = try Timestamp(milliseconds: row[2])
        guard let key = try AlarmKey(bytes: row[3] as [UInt8]), let source = try AlarmScope.Source(rawValue: row[4]),
            let action = try FenceAction(rawValue: row[9])
        else { throw corrupt() }
        var previous: AlarmPoint?
        if let time: Int64 = try row[15] {
            previous = try AlarmPoint(
                time: Timestamp(milliseconds: time), place: try place(16), accuracy: row[18], speed: row[19],
                received: Timestamp(milliseconds: row[20]))
        }
        let alarm = try Alarm(
            key: key, source: source, fence: row[5], revision: row[6], name: row[7], group: row[8], action: action,
            point: AlarmPoint(
                time: Timestamp(milliseconds: row[10]), place: try place(11), accuracy: row[13], speed: row[14],
                received: received), previous: previous,
            crossing: Crossing(
                time: Timestamp(milliseconds: row[21]), place: try place(22), isEstimated: row[24],
                earliest: Timestamp(milliseconds: row[25]), latest: Timestamp(milliseconds: row[26])),
            inside: row[27], skipped: row[28], speedLimit: row[29], parameters: row[30],
            isStale: row[31], isReported: row[32])
        try self.init(number: number, entity: row[1], alarm: alarm, received: received)
    }
}

extension Alarm {
    /// In the order of ``AlarmRecord/columns`` without the first.
    fileprivate func values(of entity: String, received: Timestamp) -> SQLParameters {
        var values: SQLParameters = [
            entity, received.milliseconds, key.bytes, Int(source.rawValue), fence, revision, name, group,
            action.rawValue,
            point.time.milliseconds, point.place.latitudeE7, point.place.longitudeE7, point.accuracy, point.speed,
        ]
        values += [
            previous?.time.milliseconds, previous?.place.latitudeE7, previous?.place.longitudeE7, previous?.accuracy,
            previous?.speed, previous?.received.milliseconds,
        ]
        values += [
            crossing.time.milliseconds, crossing.place.latitudeE7, crossing.place.longitudeE7, crossing.isEstimated,
            crossing.earliest.milliseconds, crossing.latest.milliseconds, inside, skipped, speedLimit, parameters,
            isStale, isReported,
        ]
        return values
    }
}
