import SQLDatabase
package import TrackModel
package import TrackStore

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
