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

/// The sessions that one server process has let in: at most one for each stream, from soon after the newer login.
struct SessionModel {
    private var sockets: [StreamID: [VirtualSocket]] = [:]

    /// How long the server may take to close the session that a newer one replaces, milliseconds.
    static let timeout: Int64 = 2000

    /// A login succeeded. Returns the sessions that it replaces.
    mutating func welcomed(_ socket: VirtualSocket, _ stream: StreamID) -> [VirtualSocket] {
        let former = sockets[stream, default: []].filter(\.isActive)
        sockets[stream] = former + [socket]
        return former
    }
}

/// Since when nothing has kept the agent from writing to its disk, and nobody has told it anything.
struct QuietTimeModel {
    /// Longer than the agent waits between two tries to write its state, milliseconds.
    static let span: Int64 = 75_000

    private var troubledAt: MonotonicTime

    init(now: MonotonicTime) {
        troubledAt = now
    }

    mutating func trouble(_ now: MonotonicTime) { troubledAt = now }

    /// Whether everything that was told must be on the disk.
    func isCalm(_ now: MonotonicTime) -> Bool { now - troubledAt > Self.span }
}

/// Since when the disk has refused the alarm journal to one process: an error may pass, and what is given up is lost.
struct ReadRetryModel {
    /// Milliseconds for which the journal tries at least, before it gives up what it cannot read.
    static let least: Int64 = 590_000

    private var refusals: Int
    private var since: MonotonicTime?

    /// `refusals`: of this file, as the disk has counted them.
    init(refusals: Int) {
        self.refusals = refusals
    }

    mutating func observe(refusals count: Int, hasGivenUp: Bool, _ now: MonotonicTime) throws(Violation) {
        if count > refusals, since == nil { since = now }
        refusals = count
        guard hasGivenUp, now - (since ?? now) < Self.least else { return }
        throw Violation(
            guarantee: .alarms,
            detail: "the journal gave up what it could not read after \(now - (since ?? now)) ms of errors, not after "
                + "\(Self.least / 1000) s")
    }
}

/// How long a point may wait in a world where nothing is wrong: until its pack is full, and as long as the rest of what had
/// to wait takes.
struct PromptnessModel {
    /// After so many milliseconds without trouble every backlog is gone, and every dead link was found out.
    static let recovery: Int64 = 180_000
    /// For what a pack takes on its way, milliseconds.
    static let slack: Int64 = 15_000

    private(set) var unwellAt: MonotonicTime
    private var intervals: (gather: Int64, pack: Int64) = (0, 0)

    init(now: MonotonicTime) {
        unwellAt = now
    }

    mutating func trouble(_ now: MonotonicTime) { unwellAt = now }

    /// Milliseconds of a point's wait that count: those since the last trouble. A disk that had not answered takes a point long
    /// after the agent has gathered it, and the pack's time begins then.
    func counted(wait: Int64, _ now: MonotonicTime) -> Int64 { min(wait, now - unwellAt) }

    /// Looks at the world. Intervals in seconds, as they are in force. Returns the most milliseconds that a point may have
    /// waited; nil: something was wrong not long ago.
    mutating func limit(isWell: Bool, gather: Int64, pack: Int64, _ now: MonotonicTime) -> Int64? {
        // What was gathered under other intervals may have waited for these.
        if !isWell || intervals != (gather, pack) { unwellAt = now }
        intervals = (gather, pack)
        guard now - unwellAt > Self.recovery else { return nil }
        return (max(gather, pack) + gather) * 1000 + Self.slack
    }
}
