internal import AgentLogic
internal import DiskRing
internal import TrackModel
internal import TrackWire

/// A batch as it goes on the wire. Made on the disk thread: decoding and packing a thousand points is no work for the loop.
struct PreparedUpload: Sendable {
    let firstSequence: UInt64
    let lastSequence: UInt64
    let stream: StreamID
    let entity: String
    let batch: EncodedBatch
    /// Of its points.
    let firstTime: Timestamp
    let lastTime: Timestamp
    /// Records passed over because no reader of this program understands them.
    let undecodable: UInt64
}

extension TrackPoint {
    /// The points before this one are gone. Only a reader of the whole track can tell since when.
    fileprivate mutating func tell(_ loss: CacheLoss) {
        let reason: GapReason =
            switch loss {
            case .dropped: .cacheFull
            case .cleared: .cleared
            case .wrongDate: .doubtfulTime
            case .damaged: .diskTrouble
            }
        continuity?.tellLoss(reason, before: fix.time)
    }
}

enum UploadReader {
    enum Reading: Sendable {
        case batch(PreparedUpload)
        /// `undecodable` as in ``PreparedUpload``.
        case nothing(undecodable: UInt64)
        /// The disk does not answer now, so nobody knows what follows.
        case postponed(undecodable: UInt64)
    }

    /// As many of the points as one payload can hold: values count as points times distinct keys.
    private static func payload(_ points: [TrackPoint]) -> [TrackPoint] {
        var keys: Set<String> = []
        for (index, point) in points.enumerated() {
            for key in point.attributes.keys { keys.insert(key) }
            if index > 0, keys.count * (index + 1) > WireLimits.payloadValues { return Array(points[..<index]) }
        }
        return points
    }

    /// Reads and packs the points that follow a sequence number.
    ///
    /// Another version may have written a record whose checksum is right and that is no point. The reader passes over
    /// this record and counts it, so that the record does not stop the points behind it.
    ///
    /// `format`: the highest batch payload format that the server reads.
    static func next(
        in cache: DiskRing, after: UInt64, maximumPoints: Int, maximumBytes: Int,
        format: Int = WireLimits.payloadFormat, now: MonotonicTime
    ) -> Reading {
        var position = after
        var undecodable: UInt64 = 0
        while let found = cache.read(
            after: position, maximumCount: maximumPoints, maximumBytes: maximumBytes, now: now)
        {
            let decoded = found.records.map { try? PointRecord.decode($0.payload) }
            let leading = decoded.prefix { $0 == nil }.count
            undecodable += UInt64(leading)
            var points = payload(decoded.dropFirst(leading).prefix { $0 != nil }.compactMap(\.self))
            let times = points.map(\.fix.time)
            guard let earliest = times.min(), let latest = times.max() else {
                position = found.lastSequence
                continue
            }
            let first = found.firstSequence + UInt64(leading)
            let loss: CacheLoss? =
                leading > 0
                ? .damaged
                : cache.loss(
                    after: position, before: first, entity: found.entity, time: points[0].fix.time.milliseconds)
            if let loss { points[0].tell(loss) }
            return .batch(
                PreparedUpload(
                    firstSequence: first, lastSequence: first + UInt64(points.count) - 1, stream: found.stream,
                    entity: found.entity, batch: BatchCodec.encode(points, format: format), firstTime: earliest,
                    lastTime: latest, undecodable: undecodable))
        }
        return cache.isReadPostponed(now: now)
            ? .postponed(undecodable: undecodable) : .nothing(undecodable: undecodable)
    }
}

// What the link and the disk ring tell each other.

/// The answer to a confirmation of what the server has.
enum CacheConfirmation {
    /// `stream`: the one whose number was to be confirmed.
    case done(stream: StreamID?)
    case diskHangs
}

/// What reading a batch has brought.
enum BatchReading {
    case batch(PreparedUpload)
    case nothing
    /// The disk does not answer now.
    case postponed
}

/// The batch that is to be read.
struct BatchLimits {
    let after: UInt64
    let maximumPoints: Int
    let maximumBytes: Int
    /// The highest batch payload format that the server reads.
    let format: Int
}
