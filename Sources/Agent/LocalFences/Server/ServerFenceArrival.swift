internal import Geofencing
internal import TrackModel

/// The fences of a set that the server has sent, before it is known since which point they judge.
struct ServerFenceArrival: Sendable {
    /// On what the times of a fence that has come depend.
    struct Times: Sendable {
        let number: Int32
        /// As the server has sent them.
        let since: Timestamp
        let revised: Timestamp
        /// Of the fence in whose place it comes; `revised` nil: its area is another one. Nil: no fence of this number was judged.
        var before: (since: Timestamp, revised: Timestamp?)?

        /// Points up to `last` that were judged without the fence, or by another area, say nothing of it: it begins behind them. Nil:
        /// no point was judged.
        func after(_ last: Timestamp?) -> (since: Timestamp, revised: Timestamp) {
            guard let last else { return (since, revised) }
            let next = last.adding(milliseconds: 1)
            // A fence that came since the newest judged point was not judged either: to the server it is new.
            guard let before, before.since < next else { return (max(since, next), revised) }
            return (before.since, before.revised ?? max(revised, next))
        }
    }

    let version: UInt64
    let reach: ServerReach?
    var fences: Kept<ServerFence>
    var zones: [String: ZoneOffsets] = [:]
    var times: [Times] = []

    init(version: UInt64, reach: ServerReach?, fences: Kept<ServerFence>) {
        (self.version, self.reach, self.fences) = (version, reach, fences)
    }

    /// The newest time at which a fence that has come begins, or sets places anew.
    func newestTime(after last: Timestamp?) -> Timestamp? {
        times.map { max($0.after(last).since, $0.after(last).revised) }.max()
    }
}
