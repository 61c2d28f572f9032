import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func addRouteJob(
        _ order: RouteJobOrder, in service: ServiceID, at now: Timestamp, renewing: Timestamp
    ) async throws(TrackStoreError) -> RouteJobRecord {
        try await writing { database in
            try self.check(service, database)
            let entity = try database.value(
                Int64.self, "SELECT id FROM entity WHERE service = ? AND name = ?",
                [service.rawValue, order.entity.text])
            guard let entity else {
                throw TrackStoreError(
                    .unknownEntity, "service \(service.rawValue) has no entity named '\(order.entity.text)'")
            }
            let known = try RouteJobRecord.fetch(order, in: service, database)
            if let known, known.state != .done || known.modified >= renewing { return known }
            let unfinished = try database.value(
                Int.self, "SELECT COUNT(*) FROM route_job WHERE service = ? AND state < 2",
                [service.rawValue])
            guard unfinished ?? 0 < RouteJobRules.mostUnfinished else {
                throw TrackStoreError(
                    .tooManyRouteJobs,
                    "the service has \(RouteJobRules.mostUnfinished) jobs for frequent routes that are not done: wait for one"
                )
            }
            if let known {
                try database.execute(
                    """
                    UPDATE route_job
                    SET state = 0, modified = ?, routes = NULL, refusal = NULL, reason = NULL, claimed_through = NULL
                    WHERE id = ?
                    """, [now.milliseconds, known.number])
            } else {
                try database.execute(
                    """
                    INSERT INTO route_job (
                        service, entity, from_time, through_time, minutes, processing, created, modified, state)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
                    """,
                    [
                        service.rawValue, entity, order.from.milliseconds, order.through.milliseconds, order.minutes,
                        order.processing, now.milliseconds, now.milliseconds,
                    ])
                try database.execute(
                    """
                    DELETE FROM route_job WHERE id IN (
                        SELECT id FROM route_job WHERE service = ? AND state = 2
                        ORDER BY modified DESC, id DESC LIMIT -1 OFFSET ?)
                    """, [service.rawValue, RouteJobRules.mostDone])
            }
            guard let job = try RouteJobRecord.fetch(order, in: service, database) else {
                throw TrackStoreError(.corrupt, "the job for frequent routes is not there after it was written")
            }
            return job
        }
    }

    package func routeJob(
        _ order: RouteJobOrder, in service: ServiceID
    ) async throws(TrackStoreError) -> RouteJobRecord? {
        try await reading { database in
            try self.check(service, database)
            return try RouteJobRecord.fetch(order, in: service, database)
        }
    }

    // MARK: Workers

    package func claimRouteJob(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) async throws(TrackStoreError) -> RouteJobRecord? {
        guard try await reading({ database in try !JobTable.routes.isIdle(database) }) else { return nil }
        return try await writing { database in
            let number = try JobTable.routes.claim(by: worker, at: now, through: end, database)
            return try number.flatMap { try RouteJobRecord.fetch($0, database) }
        }
    }

    package func keepRouteJob(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await writing { database in try JobTable.routes.keep(number, by: worker, through: end, database) }
    }

    package func settleRouteJob(
        _ number: Int64, by worker: Int64, _ result: RouteJobResult?, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        var (routes, refusal, reason): ([UInt8]?, Int64?, String?)
        switch result {
        case .routes(let bytes)?: routes = bytes
        case .refused(let status, let text)?: (refusal, reason) = (status, text)
        case nil: break
        }
        return try await writing { [routes, refusal, reason] database in
            try JobTable.routes.settle(
                number, by: worker, isDone: result != nil, at: now,
                results: [("routes", routes), ("refusal", refusal), ("reason", reason)], database)
        }
    }

    package func removeRouteJobs(doneBefore: Timestamp) async throws(TrackStoreError) -> Int {
        try await writing { database in try JobTable.routes.remove(doneBefore: doneBefore, database) }
    }
}

extension RouteJobRecord {
    private static let selection = """
        SELECT j.id, j.service, e.name, j.from_time, j.through_time, j.minutes, j.processing, j.created, j.modified,
            j.state, j.routes, j.refusal, j.reason
        FROM route_job j JOIN entity e ON e.id = j.entity
        """

    fileprivate static func fetch(
        _ order: RouteJobOrder, in service: ServiceID, _ database: any SQLConnection
    ) throws -> RouteJobRecord? {
        try database.row(
            selection + """
                 WHERE e.service = ? AND e.name = ? AND j.from_time = ? AND j.through_time = ? AND j.minutes = ?
                    AND j.processing = ?
                """,
            [
                service.rawValue, order.entity.text, order.from.milliseconds, order.through.milliseconds, order.minutes,
                order.processing,
            ]
        ) { try RouteJobRecord($0) }
    }

    fileprivate static func fetch(_ number: Int64, _ database: any SQLConnection) throws -> RouteJobRecord? {
        try database.row(selection + " WHERE j.id = ?", [number]) {
            try RouteJobRecord($0)
        }
    }

    private init(_ row: SQLRow) throws {
        let number: Int64 = try row[0]
        guard let service = try ServiceID(rawValue: row[1]), let state = try State(rawValue: row[9]) else {
            throw TrackStoreError(.corrupt, "the job \(number) for frequent routes cannot be read")
        }
        let routes: [UInt8]? = try row[10]
        let refusal: Int64? = try row[11]
        try self.init(
            number: number, service: service,
            order: RouteJobOrder(
                entity: row[2], from: Timestamp(milliseconds: row[3]), through: Timestamp(milliseconds: row[4]),
                minutes: row[5], processing: row[6]),
            created: Timestamp(milliseconds: row[7]), modified: Timestamp(milliseconds: row[8]), state: state,
            result: routes.map { .routes($0) } ?? refusal.map { try .refused(status: $0, reason: row[12] ?? "") })
    }
}
