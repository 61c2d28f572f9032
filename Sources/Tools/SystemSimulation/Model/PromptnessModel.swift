internal import TrackModel

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
