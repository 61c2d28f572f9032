/// Where the ledger of the ring had come to before a process opened the ring.
///
/// The process goes on from there: an older mark would upload again what the server has, and every opening writes its own
/// mark over the one that it found. So the mark is taken before.
struct LedgerPosition {
    private let stream: [UInt8]
    private let acknowledged: UInt64

    /// Nil when no stream stands there.
    init?(_ found: RingContent) {
        guard let stream = found.stream else { return nil }
        (self.stream, acknowledged) = (stream, found.acknowledged)
    }

    /// `content`: what stands there when the process has read the ring.
    func check(against content: RingContent) throws(Violation) {
        guard content.stream == stream, content.acknowledged < acknowledged else { return }
        throw Violation(
            guarantee: .recovery,
            detail: "the ledger said that \(acknowledged) is acknowledged, and the opening went on from "
                + "\(content.acknowledged)")
    }
}
