/// Limits of the batches that wait for the store.
package struct IngestLimits: Hashable, Sendable {
    /// Most bytes of all batches that wait for the store. When they are used, the writer accepts no batch. One vehicle, and the
    /// requests of one service together, may use a quarter.
    package var waitingBytes = 256 << 20
    /// Most batches of one transaction.
    package var groupBatches = 1024
    /// Most bytes of the batches of one transaction.
    package var groupBytes = 32 << 20
    /// Most rows that the batches of one transaction cause beside their points: alarms, messages and their receivers. A batch
    /// that causes more is alone in its transaction.
    package var groupRows = 4000
    /// What the points and reports of one entity may cause.
    package var output = OutputAllowance.Limits()
    /// The waits before the new tries of a transaction whose failure may pass. If the last try fails too, the writer
    /// reports the failure to the owners of the batches.
    package var retries: [Duration] = [0.05, 0.2, 1, 3, 5, 10].map { .seconds($0) }
    /// How long a request waits for room in a full queue.
    package var requestWait: Duration = .seconds(5)
    /// How long a request waits for the commit of its batches: twice the time of all tries of one transaction.
    package var requestAnswer: Duration = .seconds(40)

    package init() {}
}
