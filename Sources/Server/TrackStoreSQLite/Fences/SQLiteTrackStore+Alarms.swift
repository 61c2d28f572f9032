import Geofencing
import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
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
