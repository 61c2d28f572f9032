internal import TrackModel

/// The active segment: one open file that only grows at its end. Closes it when freed.
final class SegmentWriter {
    private let files: any CacheFileSystem
    private let file: CacheFile
    private let salt: UInt32
    private let size: Int
    private var indexes: [ExactName: UInt16]
    private var scratch: [UInt8] = []
    private(set) var offset = SegmentHeader.bytes

    /// Makes a segment that survives a power cut from here on: written whole under another name, synchronised, renamed,
    /// and the directory synchronised. Zeros are written rather than only reserved: a reserved extent must be converted
    /// when data arrive, which makes every later fdatasync a journal commit.
    ///
    /// `makeRoom` is called when the disk has taken the new name: a disk that takes no writes must not cost a segment.
    init(
        files: any CacheFileSystem, directory: String, header: SegmentHeader, size: Int, makeRoom: () -> Void
    ) throws(CacheFileError) {
        let path = "\(directory)/\(SegmentName.of(header.firstSequence))"
        let temporary = "\(directory)/\(SegmentName.of(header.firstSequence)).new"
        let file = try Self.begin(temporary, files, makeRoom)
        do throws(CacheFileError) {
            try files.writeFully(file, header.encoded(), at: 0)
            let zeros = [UInt8](repeating: 0, count: min(64 * 1024, size))
            var written = SegmentHeader.bytes
            while written < size {
                let count = min(zeros.count, size - written)
                try files.writeFully(file, count == zeros.count ? zeros : Array(zeros[..<count]), at: written)
                written += count
            }
            try files.synchronizeFile(file, dataOnly: false)
            try files.rename(temporary, to: path)
            try files.synchronizeNames(in: directory)
        } catch {
            files.close(file)
            // On a full disk its bytes are needed; when this fails too, the next opening removes it.
            try? files.unlink(temporary)
            throw error
        }
        self.files = files
        self.file = file
        self.size = size
        salt = RecordFormat.salt(of: header.stream)
        indexes = Dictionary(
            header.entities.enumerated().map { (ExactName($1), UInt16($0)) }, uniquingKeysWith: { first, _ in first })
    }

    deinit { files.close(file) }

    private static func begin(
        _ path: String, _ files: any CacheFileSystem, _ makeRoom: () -> Void
    ) throws(CacheFileError) -> CacheFile {
        do throws(CacheFileError) {
            let file = try files.openFile(path, .replace)
            makeRoom()
            return file
        } catch {
            // On some file systems a name needs room as well.
            guard error.number == noSpaceErrno else { throw error }
            makeRoom()
            return try files.openFile(path, .replace)
        }
    }

    /// Names it knows, for the next segment's header.
    var entities: [String] { indexes.sorted { $0.value < $1.value }.map(\.key.text) }

    /// Whether a point still fits, with the record that introduces its entity.
    func fits(_ record: PendingRecord) -> Bool {
        let introduction =
            indexes[ExactName(record.entity)] == nil ? RecordFormat.headerBytes + record.entity.utf8.count : 0
        guard introduction == 0 || indexes.count <= Int(UInt16.max) else { return false }
        return fits(bytes: introduction + RecordFormat.headerBytes + record.payload.count)
    }

    func fits(bytes: Int) -> Bool { bytes <= size - offset }

    /// Writes without synchronising; returns how many bytes. After an error the writer must not be used again.
    func append(_ record: PendingRecord) throws(CacheFileError) -> Int {
        scratch.removeAll(keepingCapacity: true)
        let index: UInt16
        if let known = indexes[ExactName(record.entity)] {
            index = known
        } else {
            index = UInt16(truncatingIfNeeded: indexes.count)
            indexes[ExactName(record.entity)] = index
            RecordFormat.append(
                .entity, sequence: record.sequence, time: 0, entity: index, body: record.entity.utf8, salt: salt,
                to: &scratch)
        }
        RecordFormat.append(
            .point, sequence: record.sequence, time: record.time, entity: index, body: record.payload, salt: salt,
            to: &scratch)
        return try flush()
    }

    /// The same for a record of another kind.
    func append(tombstone body: [UInt8], sequence: UInt64) throws(CacheFileError) -> Int {
        scratch.removeAll(keepingCapacity: true)
        RecordFormat.append(.tombstone, sequence: sequence, time: 0, entity: 0, body: body, salt: salt, to: &scratch)
        return try flush()
    }

    func synchronize() throws(CacheFileError) {
        try files.synchronizeFile(file, dataOnly: true)
    }

    private func flush() throws(CacheFileError) -> Int {
        try files.writeFully(file, scratch, at: offset)
        offset += scratch.count
        return scratch.count
    }
}
