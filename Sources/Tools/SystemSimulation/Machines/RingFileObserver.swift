internal import TrackModel
internal import TrackTestKit

/// Looks at the ring's directory on a simulated disk from outside, and tells what the disk did to the ring's files.
final class RingFileObserver {
    let disk: DiskSimulation
    private let directory: String
    private let decode: ([UInt8], Int64) -> TrackPoint?
    private var streams: Set<[UInt8]> = []

    /// `decode`: the point in a record's payload, with the record's time.
    init(_ disk: DiskSimulation, directory: String, decode: @escaping ([UInt8], Int64) -> TrackPoint?) {
        self.disk = disk
        self.directory = directory
        self.decode = decode
        disk.witnessed = DiskEvents()
    }

    /// What stands there now. `passingOver`: segments that the ring could not read.
    func content(passingOver refused: Set<UInt64> = [], withoutLedger: Bool = false) -> RingContent {
        let files = disk.paths.compactMap { path -> (first: UInt64, bytes: [UInt8])? in
            guard let first = first(of: path), !refused.contains(first), let bytes = disk.contents(of: path) else {
                return nil
            }
            return (first, bytes)
        }
        for file in files { noteStream(file.bytes) }
        return RingContent(
            files: files, ledger: withoutLedger ? nil : disk.contents(of: directory + "/acknowledged"),
            streams: streams, decode: decode)
    }

    /// The points that stand in one segment, whatever became of them.
    func points(in segment: UInt64) -> [PointOnDisk] {
        guard let path = disk.paths.first(where: { first(of: $0) == segment }), let bytes = disk.contents(of: path)
        else { return [] }
        return points(segment, bytes)
    }

    private func points(_ segment: UInt64, _ bytes: [UInt8]) -> [PointOnDisk] {
        let content = RingContent(files: [(segment, bytes)], ledger: nil, streams: streams, decode: decode)
        return content.points + content.others
    }

    private func noteStream(_ bytes: [UInt8]) {
        if bytes.starts(with: "SAKER-TC".utf8), bytes.count >= 32 { streams.insert(Array(bytes[16..<32])) }
    }

    /// What happened since the last call.
    func takeOperation() -> DiskOperation {
        guard let events = disk.witnessed, !events.refusals.isEmpty || !events.losses.isEmpty else {
            return DiskOperation()
        }
        disk.witnessed = DiskEvents()
        var operation = DiskOperation()
        for path in events.refusals.keys {
            if let first = first(of: path) { operation.refused.insert(first) }
            if path.hasSuffix("/acknowledged") { operation.isLedgerRefused = true }
        }
        for (path, bytes) in events.losses {
            guard let first = first(of: path) else { continue }
            let rest = disk.contents(of: path)
            // The unused end of a segment is cut at every opening.
            let isEmpty = rest.map { $0.count < bytes.count && bytes[$0.count...].allSatisfy { $0 == 0 } } ?? false
            let content = SegmentContent(bytes)
            operation.losses.append(
                LostFile(
                    segment: first, size: bytes.count, bytes: bytes.count - (rest?.count ?? 0), isGone: rest == nil,
                    points: isEmpty ? [] : points(first, bytes),
                    hasSoundHeader: content.header?.first == first, holdsClears: !isEmpty && !content.clears.isEmpty))
        }
        return operation
    }

    /// Bytes of all segment files.
    var segmentBytes: Int {
        disk.paths.reduce(0) { $0 + (first(of: $1) == nil ? 0 : disk.contents(of: $1)?.count ?? 0) }
    }

    /// The segments whose files stand there, the oldest first.
    var segments: [UInt64] { disk.paths.compactMap(first).sorted() }

    /// The first sequence in the name of a segment.
    private func first(of path: String) -> UInt64? {
        guard path.hasPrefix(directory + "/"), path.hasSuffix(".segment") else { return nil }
        return UInt64(path.dropFirst(directory.utf8.count + 1).dropLast(8), radix: 16)
    }
}

/// What the disk did to the ring's files in one operation.
struct DiskOperation {
    /// Segments that the disk refused to read.
    var refused: Set<UInt64> = []
    var isLedgerRefused = false
    var losses: [LostFile] = []
}

/// A segment file that lost its name or its end.
struct LostFile {
    let segment: UInt64
    /// Bytes that it had.
    let size: Int
    /// How much shorter it is; 0 when another file of the same size replaced it.
    let bytes: Int
    let isGone: Bool
    /// What stood in it.
    let points: [PointOnDisk]
    let hasSoundHeader: Bool
    let holdsClears: Bool
}
