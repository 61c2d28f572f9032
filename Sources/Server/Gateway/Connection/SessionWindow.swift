import Ingest

/// What a session was told to hand over, and what its agent is told when that is stored.
enum Submission: Hashable {
    case upload(refusals: [PointRefusal])
    case points(id: UInt64, stored: Int, refusals: [PointRefusal])
    /// The newest point of a heartbeat. Nobody is told what became of it.
    case newest
}

/// What a connection has handed over and not yet been told about. Full means: its next frame waits unread.
struct SessionWindow {
    private let limits: GatewayLimits
    /// By ticket, with the bytes of the payload as received.
    private var submissions: [UInt64: (submission: Submission, bytes: Int)] = [:]
    private var lastTicket: UInt64 = 0
    private var batches = 0
    private var bytes = 0
    private(set) var calls = 0

    init(limits: GatewayLimits) {
        self.limits = limits
    }

    var isOpen: Bool { batches < limits.windowBatches && bytes < limits.windowBytes && calls < limits.calls }
    /// Nothing waits for us.
    var isEmpty: Bool { batches == 0 && calls == 0 }

    /// No batch is on its way to the store.
    var hasNoBatch: Bool { batches == 0 }

    /// Returns the ticket under which the batch is handed over. A newest point takes no room.
    mutating func submitted(_ submission: Submission, bytes count: Int) -> UInt64 {
        lastTicket += 1
        submissions[lastTicket] = (submission, count)
        if submission != .newest {
            batches += 1
            bytes += count
        }
        return lastTicket
    }

    /// Nil for a ticket that is not known.
    mutating func settled(_ ticket: UInt64) -> Submission? {
        guard let (submission, count) = submissions.removeValue(forKey: ticket) else { return nil }
        if submission != .newest {
            batches -= 1
            bytes -= count
        }
        return submission
    }

    mutating func called() { calls += 1 }
    mutating func answered() { calls -= 1 }
}
