import SQLDatabase
import TrackModel
import TrackStore

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
