internal import DiskRing
internal import Geofencing
internal import LocalFences
internal import NIOCore
internal import TrackModel
internal import TrackWire

/// The points of the process before, as fences judge them.
enum FenceReplay {
    /// So many of the newest records of the ring are looked at, and what stands in the same segment before them. The newest
    /// fence state is some 30 s old.
    private static let enough: UInt64 = 1000
    private static let batch = 1000
    private static let mostBytes = 1 << 20
    /// Milliseconds until a disk that has not shown everything is asked again.
    static let pause: Int64 = 500
    /// Milliseconds that later points wait for the disk.
    static let timeout: Int64 = 5000

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
        in cache: DiskRing, of entity: String, after time: Timestamp, through last: UInt64,
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

/// Shows fences the points of the process before, once for each entity. What is to be judged waits meanwhile.
///
/// Owns what waits. May touch: the disk ring, which it reads on the disk thread, and its timers.
final class FenceReplayer<Waiting> {
    private enum Timer: Hashable {
        /// The ring does not give the points.
        case timeout
        /// The ring is asked once more.
        case again
    }

    private let context: ShellContext
    private let ring: any CacheExecutor
    private let timers: ShellTimers<Timer>
    private let last: UInt64
    private let includesAcknowledged: Bool
    /// Entities whose points were asked for.
    private var asked: Set<ExactName> = []
    /// What came while the ring was read; nil when it is not.
    private var waiting: [Waiting]?

    /// `last`: the last sequence that the process before gave to a point.
    init(_ context: ShellContext, ring: any CacheExecutor, through last: UInt64, includesAcknowledged: Bool = false) {
        (self.context, self.ring, self.last) = (context, ring, last)
        self.includesAcknowledged = includesAcknowledged
        timers = ShellTimers(context)
    }

    var isReading: Bool { waiting != nil }

    /// Reads the points of an entity after a time, unless it was done before. Calls `found` or, when the disk does not answer in
    /// time, `late`; either must ``end()`` the reading. Calls neither when it was ended before.
    func start(
        of entity: String, after time: Timestamp, found: @escaping ([FenceReplay.Found]) -> Void,
        late: @escaping () -> Void
    ) {
        guard asked.insert(ExactName(entity)).inserted else { return }
        waiting = []
        timers.set(.timeout, milliseconds: FenceReplay.timeout, late)
        read(entity, after: time, found)
    }

    private func read(_ entity: String, after time: Timestamp, _ found: @escaping ([FenceReplay.Found]) -> Void) {
        let (reading, last, includesAcknowledged, now) = (asked.count, last, includesAcknowledged, context.now)
        let result = ring.perform(on: context.loop) { cache in
            FenceReplay.points(
                in: cache, of: entity, after: time, through: last, includesAcknowledged: includesAcknowledged, now: now)
        }
        guard let result else { return readLater(entity, after: time, found) }
        result.assumeIsolated().whenSuccess { [self] result in
            // Too late: later points were judged, perhaps those of another entity.
            guard waiting != nil, reading == asked.count else { return }
            if result.isWhole { found(result.points) } else { readLater(entity, after: time, found) }
        }
    }

    private func readLater(_ entity: String, after time: Timestamp, _ found: @escaping ([FenceReplay.Found]) -> Void) {
        timers.set(.again, milliseconds: FenceReplay.pause) { [self] in read(entity, after: time, found) }
    }

    /// Whether this waits now. False: it is to be judged at once.
    func keeps(_ one: Waiting) -> Bool {
        waiting?.append(one)
        return isReading
    }

    /// Nothing waits any more. Returns what has waited; nil when nothing was read.
    func end() -> [Waiting]? {
        timers.cancelAll()
        defer { waiting = nil }
        return waiting
    }
}

/// Which points that caused alarms the ring does not have any more.
enum MissingPoints {
    /// By the numbers of the alarms. `unread`: the disk does not say.
    ///
    /// Runs on the disk thread.
    static func of(
        _ causes: [UInt64: PointCause], in cache: DiskRing, now: MonotonicTime
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
