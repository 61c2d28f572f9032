import GRDB
import TrackStore

/// Numbers of one transaction, each greater than every number that the file ever gave out: of entities, of claims, and of
/// chunks, which are their entities' versions. So nothing that is deleted lends its number to something new.
struct Numbers {
    private let database: Database
    private var last: Int64?

    init(_ database: Database) {
        self.database = database
    }

    mutating func next() throws -> Int64 {
        let former: Int64
        if let last {
            former = last
        } else {
            let selection = try database.cachedStatement(sql: "SELECT value FROM counter")
            guard let value = try Int64.fetchOne(selection) else {
                throw TrackStoreError(.corrupt, "the store has lost its counter")
            }
            former = value
        }
        last = former + 1
        return former + 1
    }

    /// Keeps what was given out; call it before the transaction ends.
    func save() throws {
        guard let last else { return }
        try database.cachedStatement(sql: "UPDATE counter SET value = ?").execute(arguments: [last])
    }
}
