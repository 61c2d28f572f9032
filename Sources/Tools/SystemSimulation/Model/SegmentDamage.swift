/// What flipped bits may cost, read from the format as docs/formats/track-cache.md tells it, not by the ring.
struct SegmentDamage {
    private static let header = 4096
    private static let records = 2 * header
    private static let recordHeader = 28
    private static let longest = 65_564
    private static let entity: UInt8 = 2

    private struct HeaderCopy: Hashable {
        let path: String
        let isSecond: Bool
    }

    private var hitCopies: Set<HeaderCopy> = []

    /// The most points that a wrong byte at an offset of a file takes; nil: any number of them.
    mutating func hit(_ offset: Int, of bytes: [UInt8], at path: String) -> Int? {
        // The ledger is a hint, and a segment in the making holds nothing.
        guard path.hasSuffix(".segment") else { return 0 }
        guard offset >= Self.records else {
            // The header stands twice, and either copy is enough.
            let copy = HeaderCopy(path: path, isSecond: offset >= Self.header)
            hitCopies.insert(copy)
            return hitCopies.contains(HeaderCopy(path: path, isSecond: !copy.isSecond)) ? nil : 0
        }
        var start = Self.records
        while start + Self.recordHeader <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
            // Nothing was written from here on.
            if length == 0 { return 0 }
            guard (Self.recordHeader...Self.longest).contains(length) else { return nil }
            if offset < start + length { return bytes[start + 26] == Self.entity ? nil : 1 }
            start += length
        }
        return nil
    }
}
