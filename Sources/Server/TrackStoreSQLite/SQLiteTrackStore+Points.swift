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
