/// Bounds on what waits for the store.
package struct IngestLimits: Hashable, Sendable {
    /// Memory of all batches that wait for the store, bytes. Beyond it nobody's batches are taken.
    package var waitingBytes = 256 << 20
    /// Most batches of one transaction.
    package var groupBatches = 1024
    /// Memory of the batches of one transaction, bytes.
    package var groupBytes = 32 << 20
    /// Waits before each new try of a transaction that failed for a passing reason. After the last one its batches
    /// are given back.
    package var retries: [Duration] = [0.05, 0.2, 1, 3, 5, 10].map { .seconds($0) }
    /// How long a request waits for room in a full queue.
    package var requestWait: Duration = .seconds(5)
    /// How long a request waits for the commit of what it has submitted: all retries of a transaction, twice.
    package var requestAnswer: Duration = .seconds(40)

    package init() {}
}
