import SQLDatabase
import TrackModel
import TrackStore

/// Numbers of one transaction, each greater than every number that the file ever gave out: of entities, of claims, and of
/// chunks, which are their entities' versions. So nothing that is deleted lends its number to something new.
struct Numbers {
    private let database: any SQLConnection
    private var last: Int64?
    /// When the server received the points that this transaction stores last; nil: it stores none.
    private var received: Timestamp?

    init(_ database: any SQLConnection) {
        self.database = database
    }

    mutating func next() throws -> Int64 {
        let former: Int64
        if let last {
            former = last
        } else {
            let selection = try database.statement("SELECT value FROM counter")
            guard let value = try selection.value(Int64.self) else {
                throw TrackStoreError(.corrupt, "the store has lost its counter")
            }
            former = value
        }
        last = former + 1
        return former + 1
    }

    /// Points are stored that the server received at this time, by its clock.
    mutating func stored(at time: Timestamp) { received = time }

    /// Keeps what was given out; call it before the transaction ends.
    func save() throws {
        guard last != nil || received != nil else { return }
        let update = try database.statement(
            "UPDATE counter SET value = COALESCE(?, value), received = COALESCE(?, received)")
        try update.execute([last, received?.milliseconds])
    }
}
