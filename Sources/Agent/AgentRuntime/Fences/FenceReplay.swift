internal import Geofencing
internal import LocalFences
internal import TrackCache
internal import TrackModel
internal import TrackWire

/// The points of the process before, as fences judge them.
enum FenceReplay {
    /// So many of the newest records of the ring are looked at, and what stands in the same segment before them. The newest
    /// memory is some 30 s old.
    private static let enough: UInt64 = 1000
    private static let batch = 1000
    private static let mostBytes = 1 << 20
    /// Milliseconds until a disk that has not shown everything is asked again.
    static let pause: Int64 = 500

    struct Found: Sendable {
        let point: FencePoint
        let cause: PointCause
    }

    struct Reading: Sendable {
        var points: [Found] = []
        /// The disk has shown everything; otherwise it is to be asked again.
        var isWhole = true
    }

    /// Points of an entity that are later than a time, up to a sequence, in their order. Runs on the disk thread.
    /// `includesAcknowledged`: also those that the server has, as far as they still stand on the disk.
    static func points(
        in cache: TrackCache, of entity: String, after time: Timestamp, through last: UInt64,
        includesAcknowledged: Bool = false, now: MonotonicTime
    ) -> Reading {
        let name = ExactName(entity)
        var position = cache.position(beforeNewest: enough)
        var reading = Reading()
        while position < last {
            let found = cache.read(
                after: position, maximumCount: batch, maximumBytes: mostBytes, isForServer: false,
                includesAcknowledged: includesAcknowledged, now: now)
            guard let batch = found else {
                reading.isWhole = !cache.isReadPostponed(now: now)
                return reading
            }
            position = batch.lastSequence
            guard ExactName(batch.entity) == name else { continue }
            for record in batch.records where record.sequence <= last && record.time > time.milliseconds {
                guard let point = try? PointRecord.decode(record.payload) else { continue }
                let cause = PointCause(stream: batch.stream, sequence: record.sequence)
                reading.points.append(Found(point: FencePoint(point), cause: cause))
            }
        }
        return reading
    }
}

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
