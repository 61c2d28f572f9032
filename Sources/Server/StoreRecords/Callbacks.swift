import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func setCallback(_ target: CallbackTarget?, of service: ServiceID) async throws(TrackStoreError) {
        if let problem = target?.problem { throw TrackStoreError(.failed, problem) }
        let secret = try target.map { target throws(TrackStoreError) in
            try records.secrets.sealed(target.secret, of: .callbacks(of: service))
        }
        try await writing { database in
            try self.check(service, database)
            guard let target else {
                for table in ["callback", "callback_target"] {
                    try database.execute("DELETE FROM \(table) WHERE service = ?", [service.rawValue])
                }
                return
            }
            try database.execute(
                """
                INSERT INTO callback_target (service, url, secret) VALUES (?, ?, ?)
                ON CONFLICT (service) DO UPDATE SET url = excluded.url, secret = excluded.secret,
                    retry_at = NULL, sender = NULL, claimed_through = NULL
                """, [service.rawValue, target.url, secret])
            try database.execute(
                "UPDATE callback SET first_tried = NULL WHERE service = ?", [service.rawValue])
        }
    }

    package func callback(of service: ServiceID) async throws(TrackStoreError) -> CallbackTarget? {
        let found = try await reading { database in
            try self.check(service, database)
            return try database.row(
                "SELECT url, secret FROM callback_target WHERE service = ?",
                [service.rawValue]
            ) { row in try CallbackTarget(url: row[0], secret: row[1]) }
        }
        guard var target = found else { return nil }
        target.secret = try records.secrets.opened(target.secret, of: .callbacks(of: service))
        return target
    }

    private static var isDue: String {
        """
        (t.retry_at IS NULL OR t.retry_at <= ?1) AND EXISTS (SELECT 1 FROM callback c WHERE c.service = t.service)
        """
    }

    package func dueCallbacks(at now: Timestamp, limit: Int) async throws(TrackStoreError) -> [ServiceID] {
        try await reading { database in
            let select = try database.statement(
                """
                SELECT t.service FROM callback_target t
                WHERE (t.claimed_through IS NULL OR t.claimed_through < ?1) AND \(Self.isDue)
                ORDER BY t.service LIMIT ?2
                """)
            return try select.values(Int64.self, [now.milliseconds, max(0, limit)])
                .compactMap { ServiceID(rawValue: $0) }
        }
    }

    package func claimCallbacks(
        of service: ServiceID, by sender: Int64, at now: Timestamp, through end: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> CallbackClaim? {
        guard limit > 0 else { return nil }
        let found = try await writing { database -> CallbackClaim? in
            let claim = try database.row(
                """
                UPDATE callback_target AS t SET sender = ?2, claimed_through = ?3
                WHERE t.service = ?4 AND (t.claimed_through IS NULL OR t.claimed_through < ?1 OR t.sender = ?2)
                    AND \(Self.isDue)
                RETURNING url, secret
                """, [now.milliseconds, sender, end.milliseconds, service.rawValue]
            ) { row in try CallbackTarget(url: row[0], secret: row[1]) }
            guard let claim else { return nil }
            var callbacks: [QueuedCallback] = []
            var unreadable: [Int64] = []
            try database.forEach(
                """
                SELECT \(AlarmRecord.selection("a")), c.first_tried FROM callback c JOIN alarm a ON a.id = c.alarm
                WHERE c.service = ? ORDER BY c.alarm LIMIT ?
                """, [service.rawValue, limit]
            ) { row in
                do {
                    let first: Int64? = try row[AlarmRecord.columns.count]
                    callbacks.append(
                        QueuedCallback(
                            alarm: try AlarmRecord(row), firstTried: first.map(Timestamp.init(milliseconds:))))
                } catch let error as TrackStoreError where error.code == .corrupt {
                    try unreadable.append(row[0])
                }
            }
            // They would hold up all alarms behind them for ever.
            for alarm in unreadable {
                try database.execute(
                    "DELETE FROM callback WHERE service = ? AND alarm = ?", [service.rawValue, alarm])
            }
            guard !callbacks.isEmpty else {
                try database.execute(
                    "UPDATE callback_target SET sender = NULL, claimed_through = NULL WHERE service = ?",
                    [service.rawValue])
                return nil
            }
            return CallbackClaim(target: claim, callbacks: callbacks)
        }
        guard var claim = found else { return nil }
        claim.target.secret = try records.secrets.opened(claim.target.secret, of: .callbacks(of: service))
        return claim
    }

    package func settleCallbacks(
        _ settlement: CallbackSettlement, by sender: Int64
    ) async throws(TrackStoreError) -> Bool {
        try await writing { database in
            let service = settlement.service.rawValue
            try database.execute(
                """
                UPDATE callback_target SET sender = NULL, claimed_through = NULL, retry_at = ?
                WHERE service = ? AND sender = ?
                """, [settlement.retryAt?.milliseconds, service, sender])
            guard database.changes > 0 else { return false }
            let end = try database.statement("DELETE FROM callback WHERE service = ? AND alarm = ?")
            for number in settlement.ended { try end.execute([service, number]) }
            let fail = try database.statement(
                """
                UPDATE callback SET first_tried = COALESCE(first_tried, ?) WHERE service = ? AND alarm = ?
                """)
            for number in settlement.failed {
                try fail.execute([settlement.time.milliseconds, service, number])
            }
            return true
        }
    }
}
