import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    /// How many superseded points a reader holds before it drops them.
    private static let slack = 65_536

    package func lastReceived() async throws(TrackStoreError) -> Timestamp? {
        try await reading { database in
            // Not from the chunks: a merged one has the number of its first part.
            try database.value(Int64.self, "SELECT received FROM counter").map { Timestamp(milliseconds: $0) }
        }
    }

    package func version(of entity: String, in service: ServiceID) async throws(TrackStoreError) -> Int64 {
        try await reading { database in
            let row = try database.statement(
                """
                SELECT COALESCE(state.version, 0) FROM entity LEFT JOIN state ON state.entity = entity.id
                WHERE entity.service = ? AND entity.name = ?
                """)
            guard let version = try row.value(Int64.self, [service.rawValue, entity]) else {
                throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
            }
            return version
        }
    }

    package func track(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoredTrack {
        try await reading { database in
            let row = try database.statement("SELECT id FROM entity WHERE service = ? AND name = ?")
            guard let id = try row.value(Int64.self, [service.rawValue, entity]) else {
                throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
            }
            guard from <= through else { return StoredTrack(points: []) }
            // No chunk is longer than the span, so none that begins earlier reaches into the range.
            let range = "entity = ? AND first_time BETWEEN ? AND ? AND last_time >= ?"
            let places: SQLParameters = [
                id, from.adding(milliseconds: -ChunkLimits.span).milliseconds, through.milliseconds, from.milliseconds,
            ]
            // The index alone tells it. A damaged number must not ask for more memory than a chunk may take.
            let count = try database.statement(
                "SELECT COALESCE(sum(min(count, \(ChunkLimits.points))), 0) FROM chunk WHERE \(range)")
            let chunks = try database.statement(
                "SELECT \(StoredChunk.columns) FROM chunk WHERE \(range) ORDER BY first_time, id")
            let limit = max(0, limit)
            let expected = try count.value(Int.self, places) ?? 0
            var merger = PointMerger(expected: min(expected - Self.slack, limit) + Self.slack)
            var holes: [TrackHole] = []
            try chunks.forEach(places) { row in
                do {
                    merger.add(try StoredChunk(row), in: from...through)
                } catch let error as TrackStoreError where error.code == .corrupt {
                    try holes.append(
                        TrackHole(
                            from: max(from, Timestamp(milliseconds: row[6])),
                            through: min(through, Timestamp(milliseconds: row[7])), count: row[1],
                            reason: error.detail))
                }
                if merger.count - Self.slack > limit {
                    merger.tidy()
                    guard merger.count <= limit else { throw Self.tooMany(limit) }
                }
            }
            let points = merger.finish()
            guard points.count <= limit else { throw Self.tooMany(limit) }
            return StoredTrack(points: points, holes: holes)
        }
    }

    private static func tooMany(_ limit: Int) -> TrackStoreError {
        TrackStoreError(.tooManyPoints, "the range holds more than \(limit) points: ask for a shorter one")
    }
}

extension SQLiteTrackStore {
    package func lastPoints(
        of entity: String, in service: ServiceID, count: Int
    ) async throws(TrackStoreError) -> StoredTrack {
        // Points that were stored again, and points that cannot be read, count in the chunks and not in the track.
        var sought = max(0, count)
        while true {
            let (from, isBeginning) = try await beginning(ofLast: sought, of: entity, in: service)
            let track = try await track(
                of: entity, in: service, from: from, through: Timestamp(milliseconds: .max), limit: .max)
            if isBeginning || track.points.count >= count {
                return StoredTrack(points: StoredPoints(track.points.suffix(max(0, count))), holes: track.holes)
            }
            sought = sought.addingReportingOverflow(max(sought, 1)).partialValue
        }
    }

    /// When the earliest of those chunks begins that, beginning last, hold `count` points together. `isBeginning`: no chunk
    /// begins before it. Reads the index alone.
    private func beginning(
        ofLast count: Int, of entity: String, in service: ServiceID
    ) async throws(TrackStoreError) -> (Timestamp, isBeginning: Bool) {
        try await reading { database in
            let row = try database.statement("SELECT id FROM entity WHERE service = ? AND name = ?")
            guard let id = try row.value(Int64.self, [service.rawValue, entity]) else {
                throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
            }
            let chunks = try database.statement(
                "SELECT first_time, count FROM chunk WHERE entity = ? ORDER BY first_time DESC, id DESC")
            var (begin, found) = (Int64.max, 0)
            try chunks.run([id]) { row in
                begin = try row[0]
                found += try row[1]
                return found < count
            }
            return (Timestamp(milliseconds: begin), begin == .max || found < count)
        }
    }
}

extension NewChunk {
    static let insertion = """
        INSERT INTO chunk (id, entity, first_time, last_time, count, encoding, settled, received, runs, payload)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// `id` nil: the next after all there are.
    func insert(as id: Int64?, entity: Int64, isSettled: Bool, with statement: any SQLStatement) throws {
        try statement.execute([
            id, entity, firstTime, lastTime, count, isCompressed ? 1 : 0, isSettled ? 1 : 0, received,
            runs, payload,
        ])
    }
}

extension StoredChunk {
    /// The columns ``init(_:)`` needs, in its order.
    static let columns = "id, count, encoding, received, runs, payload, first_time, last_time"

    /// Throws `.corrupt`.
    init(_ row: SQLRow) throws {
        let isCompressed: Int = try row[2]
        let payload: [UInt8] = try row[5]
        let runs: [UInt8]? = try row[4]
        try self.init(
            id: row[0], first: Timestamp(milliseconds: row[6]), last: Timestamp(milliseconds: row[7]), count: row[1],
            isCompressed: isCompressed == 1, received: Timestamp(milliseconds: row[3]), runs: runs, payload: payload)
    }
}
