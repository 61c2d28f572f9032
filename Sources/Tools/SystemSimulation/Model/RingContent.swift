internal import AgentControl
internal import JSON
internal import TrackModel

/// A point that stands on the disk.
struct PointOnDisk {
    /// First sequence of its segment, as the file's name says it.
    let segment: UInt64
    let sequence: UInt64
    /// Empty: the record that introduces the name is damaged.
    let entity: String
    let point: TrackPoint

    var fix: Fix { point.fix }
}

/// What stands in the ring's directory and what an opening has to find there, by docs/formats/track-cache.md.
struct RingContent {
    /// Of the stream in use, not cleared, in the order of their numbers; acknowledged ones among them.
    private(set) var points: [PointOnDisk] = []
    /// Sound points that no opening takes: of another stream, in a file without a sound header, or without a name.
    private(set) var others: [PointOnDisk] = []
    /// Files without a sound header.
    private(set) var headless: Set<UInt64> = []
    /// What tells of the points: sound records that introduce a name, and the ledger.
    private(set) var introductions = 0
    private(set) var ledgerGeneration: UInt64 = 0
    /// As far as the ledger tells.
    private(set) var acknowledged: UInt64 = 0
    /// The stream in use; nil: there is none.
    private(set) var stream: [UInt8]?

    /// How many of `points` wait for upload.
    var waitingCount: Int { points.count { $0.sequence > acknowledged } }

    /// - Parameters:
    ///   - files: segments by the first sequence of their names.
    ///   - ledger: the bytes of the file `acknowledged`; nil: there is none, or it could not be read.
    ///   - streams: all that were ever in use, for files without a header.
    ///   - decode: the point in a payload.
    init(
        files: [(first: UInt64, bytes: [UInt8])], ledger: [UInt8]?, streams: Set<[UInt8]> = [],
        decode: ([UInt8], Int64) -> TrackPoint?
    ) {
        let files = files.sorted { $0.first < $1.first }.map { ($0.first, SegmentContent($0.bytes), $0.bytes) }
        let sound = files.filter { first, content, _ in content.header?.first == first }
        let known = ledger.flatMap(Self.newest)
        stream =
            sound.contains { $0.1.header?.stream == known?.stream } ? known?.stream : sound.last?.1.header?.stream
        if let known, known.stream == stream { acknowledged = known.acknowledged }
        ledgerGeneration = known?.generation ?? 0
        introductions = files.reduce(0) { $0 + $1.1.introductions }

        func standing(_ first: UInt64, _ point: SegmentContent.Point) -> PointOnDisk? {
            decode(point.payload, point.time).map {
                PointOnDisk(segment: first, sequence: point.sequence, entity: point.entity ?? "", point: $0)
            }
        }
        var next = UInt64.max
        var clears: [SegmentContent.Clear] = []
        // Newest first, so that a clear is known before what it took.
        for (first, content, bytes) in files.reversed() {
            guard content.header?.first == first, content.header?.stream == stream else {
                if content.header?.first != first { headless.insert(first) }
                let readings = content.header == nil ? streams.map { SegmentContent(bytes, stream: $0) } : [content]
                for reading in readings { others += reading.points.compactMap { standing(first, $0) } }
                continue
            }
            // No number beyond the range of the file's own, nor of the next file.
            let upper = min(next, (first - 1) / (1 << 32) * (1 << 32) + (1 << 32) + 1)
            for var clear in content.clears {
                clear.below = min(clear.below, upper)
                clears.append(clear)
            }
            var last: UInt64 = 0
            var taken: [PointOnDisk] = []
            for point in content.points where (first..<upper).contains(point.sequence) && point.sequence > last {
                last = point.sequence
                guard let found = standing(first, point) else { continue }
                if point.entity == nil {
                    others.append(found)
                } else if !clears.contains(where: { $0.covers(point) }) {
                    taken.append(found)
                }
            }
            points.insert(contentsOf: taken, at: 0)
            next = first
        }
    }

    /// The sound slot of the higher generation.
    private static func newest(_ ledger: [UInt8]) -> (generation: UInt64, stream: [UInt8], acknowledged: UInt64)? {
        var newest: (generation: UInt64, stream: [UInt8], acknowledged: UInt64)?
        for start in [0, 4096] where ledger.count >= start + 64 {
            let slot = Array(ledger[start..<start + 64])
            guard slot.starts(with: "SAKER-AK".utf8), SegmentContent.integer(slot, 8, 2) == 1,
                SegmentContent.sum(slot) == SegmentContent.integer(slot, 12, 4)
            else { continue }
            let generation = SegmentContent.integer(slot, 16, 8)
            if generation >= newest?.generation ?? 0 {
                newest = (generation, Array(slot[24..<40]), SegmentContent.integer(slot, 40, 8))
            }
        }
        return newest
    }
}

/// CRC-32 as zlib has it (polynomial 0xEDB88320, reflected), a table and a loop: the checker's own.
struct CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        var rest = UInt32(byte)
        for _ in 0..<8 { rest = rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
        return rest
    }

    private var rest: UInt32 = 0xFFFF_FFFF

    var value: UInt32 { ~rest }

    /// Takes more bytes; the sum of parts is the sum of the whole.
    mutating func take(_ bytes: some Collection<UInt8>) {
        let table = Self.table
        for byte in bytes { rest = rest >> 8 ^ table[Int(UInt8(truncatingIfNeeded: rest) ^ byte)] }
    }

    static func of(_ bytes: some Collection<UInt8>) -> UInt32 {
        var sum = CRC32()
        sum.take(bytes)
        return sum.value
    }
}

/// Where the ledger of the ring had come to before a process opened the ring.
///
/// The process goes on from there: an older mark would upload again what the server has, and every opening writes its own
/// mark over the one that it found. So the mark is taken before.
struct LedgerPosition {
    private let stream: [UInt8]
    private let acknowledged: UInt64

    /// Nil when no stream stands there.
    init?(_ found: RingContent) {
        guard let stream = found.stream else { return nil }
        (self.stream, acknowledged) = (stream, found.acknowledged)
    }

    /// `content`: what stands there when the process has read the ring.
    func check(against content: RingContent) throws(Violation) {
        guard content.stream == stream, content.acknowledged < acknowledged else { return }
        throw Violation(
            guarantee: .recovery,
            detail: "the ledger said that \(acknowledged) is acknowledged, and the opening went on from "
                + "\(content.acknowledged)")
    }
}

/// What the file of the durable state says, in code of its own.
struct StateContent {
    private let state: JSONValue

    /// Nil when these bytes are no state.
    init?(_ bytes: [UInt8]) {
        guard let state = try? JSONReader.value(of: bytes), state["version"]?.integerValue == 1 else { return nil }
        self.state = state
    }

    /// What the next process resumes.
    var target: CommandedTarget? {
        guard let target = state["target"], let isStarted = target["isServiceStarted"]?.boolValue,
            let isGathering = target["isGathering"]?.boolValue
        else { return nil }
        return CommandedTarget(
            isStarted: isStarted, isGathering: isGathering,
            entity: target["entity"]?.stringValue ?? CommandedTarget().entity)
    }

    /// Whether no setting of the file is another one. A setting at its default need not be there.
    func has(_ settings: AgentSettings) -> Bool {
        (state["settings"]?.objectValue ?? [:]).allSatisfy { name, value in
            // gatherInterval in the file is gather_interval for people.
            let key = name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
            guard AgentSetting.all.contains(where: { $0.key == key }) else { return true }
            guard let wanted = settings.values[key] else { return value == .null }
            if let left = value.doubleValue, let right = wanted.doubleValue { return left == right }
            return value == wanted
        }
    }
}
