internal import TrackModel

/// When an agent must get an answer: the network is well, the server runs, and its store has nothing to do.
///
/// A server that forgets to go on is found out by the agent, which ends the link and sends everything again. So nothing is
/// lost, and no other check sees it.
struct AnswerModel {
    /// Longer than an agent waits for an answer, milliseconds.
    static let span: Int64 = 25_000
    /// Longer than the server waits before it tries a batch again, milliseconds.
    static let rest: Int64 = 12_000

    private var unwellAt = MonotonicTime.distantPast
    private var servesSince = MonotonicTime.distantPast

    mutating func network(isWell: Bool, _ now: MonotonicTime) {
        if !isWell { unwellAt = now }
    }

    mutating func serves(_ now: MonotonicTime) { servesSince = now }

    func hasServed(_ span: Int64, _ now: MonotonicTime) -> Bool { now - servesSince > span }

    /// Whether a server that was asked at any time before must have answered by now.
    func isOwed(_ now: MonotonicTime, lastCall: MonotonicTime) -> Bool {
        now - unwellAt > Self.span && now - servesSince > Self.span && now - lastCall > Self.rest
    }
}
