internal import Compression
internal import TrackModel

/// The file `acknowledged`: a hint where uploading had come to. Two slots written in turn, in place; a torn one leaves
/// the other. Losing it costs a re-send that the server recognises, never a record.
struct Ledger: Equatable {
    static let name = "acknowledged"
    static let fileBytes = 2 * slotDistance
    private static let slotDistance = 4096
    private static let slotBytes = 64
    private static let magic: [UInt8] = Array("SAKER-AK".utf8)
    private static let version: UInt16 = 1

    var generation: UInt64
    var stream: StreamID
    var acknowledged: UInt64
    /// The highest first sequence of an opening's range.
    var rangeStart: UInt64

    /// Where this generation is written.
    var offset: Int { generation % 2 == 0 ? 0 : Self.slotDistance }

    func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes.appendInteger(Self.version)
        bytes.appendInteger(UInt16(0))
        bytes.appendInteger(UInt32(0))
        bytes.appendInteger(generation)
        bytes += stream.bytes
        bytes.appendInteger(acknowledged)
        bytes.appendInteger(rangeStart)
        bytes += [UInt8](repeating: 0, count: Self.slotBytes - bytes.count)
        bytes.setInteger(Self.checksum(of: bytes), at: 12)
        return bytes
    }

    /// The newer of the sound slots.
    init?(decoding file: [UInt8]) {
        let slots = [0, Self.slotDistance].compactMap { start -> Ledger? in
            guard file.count >= start + Self.slotBytes else { return nil }
            return Ledger(slot: Array(file[start..<start + Self.slotBytes]))
        }
        guard let newest = slots.max(by: { $0.generation < $1.generation }) else { return nil }
        self = newest
    }

    init(generation: UInt64, stream: StreamID, acknowledged: UInt64, rangeStart: UInt64) {
        self.generation = generation
        self.stream = stream
        self.acknowledged = acknowledged
        self.rangeStart = rangeStart
    }

    private init?(slot: [UInt8]) {
        guard slot.starts(with: Self.magic), slot.integer(at: 12) == Self.checksum(of: slot),
            slot.integer(at: 8) == Self.version, let stream = StreamID(bytes: slot[24..<40])
        else { return nil }
        self.init(
            generation: slot.integer(at: 16), stream: stream, acknowledged: slot.integer(at: 40),
            rangeStart: slot.integer(at: 48))
        let limit = SequenceRange.believed.upperBound
        // Numbers so high were never written, and counting on from a generation must not overflow.
        guard acknowledged <= limit, rangeStart <= limit, generation <= limit else { return nil }
    }

    private static func checksum(of slot: [UInt8]) -> UInt32 {
        crc32(slot[16...], continuing: crc32(slot[..<12]))
    }
}
