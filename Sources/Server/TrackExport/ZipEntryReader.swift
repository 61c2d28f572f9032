import Compression

/// The content of one entry of a ``ZipFile``, piece by piece. Its checksum is checked at the end.
package final class ZipEntryReader {
    private static let pieceBytes = 65_536

    private let file: ZipFile
    private let entry: ZipFile.Entry
    private var position: UInt64
    private let end: UInt64
    private var inflater: Inflater
    private var checksum: UInt32 = 0
    private var count: UInt64 = 0

    init(_ file: ZipFile, _ entry: ZipFile.Entry, _ range: Range<UInt64>) throws(CompressionError) {
        inflater = try Inflater()
        (self.file, self.entry) = (file, entry)
        (position, end) = (range.lowerBound, range.upperBound)
    }

    /// Nil at the end.
    package func next() throws(ZipFile.Failure) -> [UInt8]? {
        guard let piece = try unpacked() else {
            guard entry.method == 0 || inflater.hasEnded, count == entry.bytes, checksum == entry.checksum else {
                throw file.damaged(entry.name)
            }
            return nil
        }
        checksum = crc32(piece, continuing: checksum)
        count += UInt64(piece.count)
        guard count <= entry.bytes else { throw file.damaged(entry.name) }
        return piece
    }

    private func unpacked() throws(ZipFile.Failure) -> [UInt8]? {
        guard entry.method == 8 else { return try packed() }
        while true {
            do throws(CompressionError) {
                if let piece = try inflater.next() { return piece }
            } catch {
                throw file.damaged(entry.name)
            }
            guard !inflater.hasEnded, let more = try packed() else { return nil }
            inflater.feed(more)
        }
    }

    private func packed() throws(ZipFile.Failure) -> [UInt8]? {
        guard position < end else { return nil }
        let piece = try file.bytes(at: position, count: Int(min(end - position, UInt64(Self.pieceBytes))))
        position += UInt64(piece.count)
        return piece
    }
}
