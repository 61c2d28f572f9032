internal import LocalFences
internal import TrackCache
internal import TrackModel

/// Which points that caused alarms the ring does not have any more.
enum MissingPoints {
    /// By the numbers of the alarms. `unread`: the disk does not say.
    ///
    /// Runs on the disk thread.
    static func of(
        _ causes: [UInt64: PointCause], in cache: TrackCache, now: MonotonicTime
    ) -> (missing: [UInt64], unread: [UInt64]) {
        var (missing, unread): ([UInt64], [UInt64]) = ([], [])
        for (number, cause) in causes.sorted(by: { $0.key < $1.key }) {
            let found = cache.read(
                after: cause.sequence - 1, maximumCount: 1, maximumBytes: 1, isForServer: false, now: now)
            if let found {
                if found.stream == cause.stream, found.firstSequence != cause.sequence { missing.append(number) }
            } else if cache.isReadPostponed(now: now) {
                unread.append(number)
            } else {
                missing.append(number)
            }
        }
        return (missing, unread)
    }
}
