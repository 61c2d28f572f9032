import Ingest

/// What a session hands over to the writer, and what its agent is told when it is stored.
enum Submission: Hashable {
    case upload(refusals: [PointRefusal])
    case points(id: UInt64, stored: Int, refusals: [PointRefusal])
    case alarms(id: UInt64, refusals: [AlarmRefusal])
    /// A live hint. Nobody is told what became of it.
    case hint
    /// Points whose sequences an earlier session stored as other points. The batch behind it is acknowledged.
    case rescued
}

/// The batches that a connection has handed over and that are not settled yet. When the window is full, the next frame
/// waits unread.
struct SessionWindow: Hashable {
    private struct Entry: Hashable {
        let submission: Submission
        /// Of the payload as received.
        let bytes: Int
    }

    private let limits: GatewayLimits
    /// By ticket.
    private var submissions: [UInt64: Entry] = [:]
    private var lastTicket: UInt64 = 0
    private var batches = 0
    private var bytes = 0

    init(limits: GatewayLimits) {
        self.limits = limits
    }

    var isOpen: Bool { batches < limits.windowBatches && bytes < limits.windowBytes }
    /// No batch is on its way to the store.
    var isEmpty: Bool { batches == 0 }

    /// Returns the ticket under which the batch is handed over. A live hint takes no room.
    mutating func submitted(_ submission: Submission, bytes count: Int) -> UInt64 {
        lastTicket += 1
        submissions[lastTicket] = Entry(submission: submission, bytes: count)
        if submission != .hint {
            batches += 1
            bytes += count
        }
        return lastTicket
    }

    /// Nil for a ticket that is not known.
    mutating func settled(_ ticket: UInt64) -> Submission? {
        guard let entry = submissions.removeValue(forKey: ticket) else { return nil }
        if entry.submission != .hint {
            batches -= 1
            bytes -= entry.bytes
        }
        return entry.submission
    }
}
