import SQLDatabase
import TrackStore

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
