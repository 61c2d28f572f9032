import GRDB
import TrackModel
import TrackStore

extension StoredChunk {
    /// The columns ``init(_:)`` needs, in its order.
    static let columns = "id, count, encoding, received, runs, payload, first_time, last_time"

    /// Throws `.corrupt`.
    init(_ row: Row) throws {
        let isCompressed: Int = row[2]
        let payload: [UInt8] = try row.withUnsafeData(atIndex: 5) { $0.map { [UInt8]($0) } ?? [] }
        let runs: [UInt8]? = try row.withUnsafeData(atIndex: 4) { $0.map { [UInt8]($0) } }
        try self.init(
            id: row[0], first: Timestamp(milliseconds: row[6]), last: Timestamp(milliseconds: row[7]), count: row[1],
            isCompressed: isCompressed == 1, received: Timestamp(milliseconds: row[3]), runs: runs, payload: payload)
    }
}
