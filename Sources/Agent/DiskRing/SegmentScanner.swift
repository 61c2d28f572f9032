internal import Glibc
internal import TrackModel

/// Reads the records of one segment after another through one buffer, in the order of the file, each verified.
///
/// Lengths are not trusted: where a record fails, the next bytes that verify are searched for, so that damage costs
/// what it covers. Never more memory than its buffer and a segment's entity names.
@safe final class SegmentScanner {
    struct Record {
        /// Nil: a kind of a later version; skip it.
        let kind: RecordFormat.Kind?
        let sequence: UInt64
        let time: Int64
        let entity: Int
        let offset: Int
        let length: Int

        var bodyBytes: Int { length - RecordFormat.headerBytes }
    }

    /// What was passed over in the segment so far.
    struct Damage {
        var records: UInt64 = 0
        var duplicates: UInt64 = 0
        var hasTornTail = false
        /// A sound point was passed over because its number lies behind the segment's.
        var reachesBeyond = false
        /// The search for the next record was given up: what follows is unknown.
        var isIncomplete = false
    }

    private static let windowBytes = 128 * 1024
    /// Checksum work that damage in one segment may cost; honest damage needs a fraction of it.
    private static let searchBudget = 16 << 20

    private let files: any CacheFileSystem
    private let window: UnsafeMutableRawBufferPointer
    private var windowStart = 0
    private var windowCount = 0
    private var file: CacheFile?
    private var salt: UInt32 = 0
    private var end = 0
    private var sequences: Range<UInt64> = 0..<0
    private var lastSequence: UInt64 = 0
    private var searchRest = 0
    private(set) var position = 0
    private(set) var names: [String?] = []
    private(set) var damage = Damage()

    init(files: any CacheFileSystem) {
        self.files = files
        unsafe window = .allocate(byteCount: Self.windowBytes, alignment: 16)
    }

    deinit {
        close()
        unsafe window.deallocate()
    }

    func close() {
        if let file { files.close(file) }
        file = nil
        windowCount = 0
    }

    /// Begins at the first record. `end`: bytes of the file that may hold records; nil: all of it. Points outside
    /// `sequences` are duplicates of what the next segment holds.
    ///
    /// Returns the segment's header; nil when neither copy is whole.
    func open(
        _ path: String, stream: StreamID, sequences: Range<UInt64>, end: Int? = nil
    ) throws(CacheFileError) -> SegmentHeader? {
        close()
        damage = Damage()
        let file = try files.openFile(path, .readOnly)
        self.file = file
        self.end = try min(end ?? .max, files.size(of: file))
        guard let header = try readHeader() else { return nil }
        salt = RecordFormat.salt(of: stream)
        self.sequences = sequences
        lastSequence = 0
        position = SegmentHeader.bytes
        names = header.entities
        searchRest = Self.searchBudget
        return header
    }

    /// Reads the header only, without touching the scan in progress of another file.
    private func readHeader() throws(CacheFileError) -> SegmentHeader? {
        let count = try load(0, min(SegmentHeader.bytes, end))
        let block = unsafe [UInt8](UnsafeRawBufferPointer(rebasing: window[..<count]))
        return SegmentHeader(decoding: block)
    }

    /// The segment in progress has grown.
    func extend(to end: Int, last: UInt64) {
        self.end = max(self.end, end)
        sequences = sequences.lowerBound..<max(sequences.upperBound, last + 1)
    }

    /// Goes back to a record of the segment in progress, so that the next call returns it again.
    func rewind(to record: Record) {
        position = record.offset
        lastSequence = record.sequence &- 1
    }

    /// The next sound record, nil at the end. Entity records are taken in on the way and returned too.
    func next() throws(CacheFileError) -> Record? {
        while position + RecordFormat.headerBytes <= end {
            guard let record = try soundRecord() else { return nil }
            position = record.offset + record.length
            switch record.kind {
            case .entity:
                learnEntity(record)
            case .point:
                guard sequences.contains(record.sequence), record.sequence > lastSequence else {
                    damage.duplicates += 1
                    if record.sequence >= sequences.upperBound { damage.reachesBeyond = true }
                    continue
                }
                lastSequence = record.sequence
            case .tombstone, nil:
                break
            }
            return record
        }
        // A file cut short inside a record's header.
        if position < end, try !isZero(from: position) { damage.hasTornTail = true }
        return nil
    }

    /// The entity of a point; nil when the record that introduces it is damaged.
    func entity(of record: Record) -> String? {
        record.entity < names.count ? names[record.entity] : nil
    }

    /// Only for the record that `next()` returned last.
    func body(of record: Record) -> [UInt8] {
        let start = record.offset - windowStart + RecordFormat.headerBytes
        let count = record.bodyBytes
        return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: window[start..<start + count]))
    }

    // MARK: Finding the next record

    private func soundRecord() throws(CacheFileError) -> Record? {
        if let record = try verified(at: position, searching: false) { return record }
        if try isZero(from: position) { return nil }
        // Something stands here that is no record.
        var candidate = position + 1
        while candidate + RecordFormat.headerBytes <= end, searchRest > 0 {
            if let record = try verified(at: candidate, searching: true) {
                countDamage(before: record)
                return record
            }
            candidate += 1
        }
        if searchRest > 0 { damage.hasTornTail = true } else { damage.isIncomplete = true; damage.records += 1 }
        return nil
    }

    private func verified(at offset: Int, searching: Bool) throws(CacheFileError) -> Record? {
        guard try load(offset, RecordFormat.headerBytes) == RecordFormat.headerBytes else { return nil }
        let length = Int(integer(at: offset, as: UInt32.self))
        guard (RecordFormat.headerBytes...RecordFormat.maximumBytes).contains(length), length <= end - offset else {
            return nil
        }
        let sequence = integer(at: offset + 8, as: UInt64.self)
        let kind = RecordFormat.Kind(rawValue: integer(at: offset + 26, as: UInt8.self))
        guard SequenceRange.plausible.contains(sequence) else { return nil }
        if searching {
            guard kind != nil, integer(at: offset + 27, as: UInt8.self) == 0 else { return nil }
            searchRest -= length
        }
        guard try load(offset, length) == length else { return nil }
        let start = offset - windowStart
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: window[start..<start + length])
        let sum = unsafe RecordFormat.checksum(of: bytes, salt: salt)
        guard sum == integer(at: offset + 4, as: UInt32.self) else { return nil }
        return Record(
            kind: kind, sequence: sequence, time: Int64(bitPattern: integer(at: offset + 16, as: UInt64.self)),
            entity: Int(integer(at: offset + 24, as: UInt16.self)), offset: offset, length: length)
    }

    /// Sequence numbers tell how many records the damage took, its length how many it can have been at most.
    private func countDamage(before record: Record) {
        let most = UInt64(max((record.offset - position) / RecordFormat.headerBytes, 1))
        let expected = lastSequence == 0 ? sequences.lowerBound : lastSequence + 1
        let missing = record.sequence > expected ? record.sequence - expected : 0
        damage.records += min(max(missing, 1), most)
    }

    private func learnEntity(_ record: Record) {
        guard let name = String(validating: body(of: record), as: UTF8.self) else { return }
        if record.entity >= names.count {
            names += [String?](repeating: nil, count: record.entity - names.count + 1)
        }
        names[record.entity] = name
    }

    /// Whether nothing was ever written after here.
    private func isZero(from offset: Int) throws(CacheFileError) -> Bool {
        var offset = offset
        while offset < end {
            let count = try load(offset, min(Self.windowBytes, end - offset))
            guard count > 0 else { return true }
            let start = offset - windowStart
            let isZero = unsafe window[start] == 0
            let isUniform = unsafe window.baseAddress.map { base in
                unsafe memcmp(base + start, base + start + 1, count - 1) == 0
            }
            guard isZero, isUniform == true else { return false }
            offset += count
        }
        return true
    }

    // MARK: The window

    /// Makes `count` bytes at `offset` of the file stand in the window; returns how many there are, fewer at the end.
    private func load(_ offset: Int, _ count: Int) throws(CacheFileError) -> Int {
        if offset >= windowStart, offset + count <= windowStart + windowCount { return count }
        guard let file else { return 0 }
        windowStart = offset
        windowCount = 0
        let wanted = unsafe UnsafeMutableRawBufferPointer(rebasing: window[..<min(Self.windowBytes, end - offset)])
        windowCount = unsafe try files.readFully(file, into: wanted, at: offset)
        return min(count, windowCount)
    }

    private func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value {
        unsafe Value(littleEndian: window.loadUnaligned(fromByteOffset: offset - windowStart, as: type))
    }
}
