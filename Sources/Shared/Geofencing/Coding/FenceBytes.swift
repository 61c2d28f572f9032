/// The bytes of a fence, packed for the memory of this process. The bytes on the disk are ``encoded``.
///
/// Nearly all bytes of a polygon are vertices, 16 bytes each. Here a vertex is the difference to the one before it: 4 to 6 bytes
/// when it has at most seven decimals, some 11 when it has all digits of a `Double`. No bit is lost.
package struct FenceBytes: Hashable, Sendable {
    /// Vertices in the bytes of a fence: 8 bytes of latitude and 8 of longitude each.
    typealias Line = (start: Int, count: Int)

    /// How many bytes and lines there are. Then for each line the bytes before it, counted, and its vertices. Then the bytes
    /// behind the last line, counted.
    private var packed: [UInt8]

    /// `fenceStart`: where in these bytes those of ``Fence/encoded`` begin.
    package init(_ encoded: [UInt8], fenceStart: Int = 0) {
        var reader = ByteReader(encoded)
        // Bytes of another kind are kept as they are.
        let lines = (try? reader.lines(ofFenceAt: fenceStart)) ?? []
        var (writer, index) = (ByteWriter(), 0)
        writer.unsigned(UInt64(encoded.count))
        writer.unsigned(UInt64(lines.count))
        for line in lines {
            writer.counted(encoded[index..<line.start])
            index = line.start + 16 * line.count
            writer.packed(encoded[line.start..<index])
        }
        writer.counted(encoded[index...])
        // Growing has left room that would stay.
        packed = writer.bytes.withUnsafeBufferPointer { Array($0) }
    }

    /// Puts other bytes in the place of those that begin at `start` of ``encoded``: of what stands before the first vertex, which is
    /// packed as it is. False: they are not all there, and nothing has changed.
    package mutating func replace(from start: Int, with bytes: [UInt8]) -> Bool {
        var reader = ByteReader(packed)
        guard (try? reader.unsigned()) != nil, (try? reader.unsigned()) != nil,
            let plain = (try? reader.unsigned()).map({ Int(clamping: $0) }), start >= 0, start + bytes.count <= plain
        else { return false }
        let first = reader.position + start
        packed.replaceSubrange(first..<first + bytes.count, with: bytes)
        return true
    }

    /// The first bytes of ``encoded``, at most so many: of what stands before the first vertex.
    package func head(_ count: Int) -> ArraySlice<UInt8> {
        var reader = ByteReader(packed)
        guard (try? reader.unsigned()) != nil, (try? reader.unsigned()) != nil,
            let plain = (try? reader.unsigned()).map({ Int(clamping: $0) })
        else { return [] }
        return packed[reader.position...].prefix(min(count, plain))
    }

    /// Of ``encoded``.
    package var count: Int {
        var reader = ByteReader(packed)
        return (try? reader.unsigned()).map { Int(clamping: $0) } ?? 0
    }

    /// What it takes in memory.
    var packedCount: Int { packed.count }

    /// The bytes as they were given.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        var reader = ByteReader(packed)
        // What was packed here can be read: no error comes.
        try? reader.unpack(into: &bytes)
        return bytes
    }
}

/// How the numbers of a line are packed.
private enum Packing: UInt8 {
    /// Differences of their 64 bits.
    case bits
    /// Differences in units of 1e-7 degree.
    case decimals

    /// Nil for a number that this packing cannot give back.
    func packed(_ bits: UInt64) -> Int64? {
        guard self == .decimals else { return Int64(bitPattern: bits) }
        let value = Double(bitPattern: bits)
        guard value.magnitude < 1000 else { return nil }
        let units = Int64((value * 1e7).rounded())
        return unpacked(units) == bits ? units : nil
    }

    func unpacked(_ value: Int64) -> UInt64 {
        self == .decimals ? (Double(value) / 1e7).bitPattern : UInt64(bitPattern: value)
    }
}

extension ByteWriter {
    fileprivate mutating func counted(_ bytes: ArraySlice<UInt8>) {
        unsigned(UInt64(bytes.count))
        for byte in bytes { self.byte(byte) }
    }

    /// The numbers of a line, latitude and longitude in turn.
    fileprivate mutating func packed(_ vertices: ArraySlice<UInt8>) {
        let numbers = stride(from: vertices.startIndex, to: vertices.endIndex, by: 8).map { start in
            (0..<8).reduce(UInt64(0)) { $0 | UInt64(vertices[start + $1]) << UInt64(8 * $1) }
        }
        let packing = numbers.allSatisfy { Packing.decimals.packed($0) != nil } ? Packing.decimals : .bits
        unsigned(UInt64(numbers.count))
        byte(packing.rawValue)
        var last: (Int64, Int64) = (0, 0)
        for number in numbers {
            let value = packing.packed(number) ?? 0
            signed(value &- last.0)
            last = (last.1, value)
        }
    }
}

extension ByteReader {
    fileprivate mutating func lines(ofFenceAt start: Int) throws(FenceStateCodingError) -> [FenceBytes.Line] {
        try pass(start)
        return try lines()
    }

    fileprivate mutating func unpack(into bytes: inout [UInt8]) throws(FenceStateCodingError) {
        bytes.reserveCapacity(Int(clamping: try unsigned()))
        for _ in 0..<(try count(each: 1)) {
            try unpackCounted(into: &bytes)
            try unpackLine(into: &bytes)
        }
        try unpackCounted(into: &bytes)
    }

    private mutating func unpackCounted(into bytes: inout [UInt8]) throws(FenceStateCodingError) {
        for _ in 0..<(try count(each: 1)) { bytes.append(try byte()) }
    }

    private mutating func unpackLine(into bytes: inout [UInt8]) throws(FenceStateCodingError) {
        let count = try count(each: 1)
        let packing: Packing = try byte() == Packing.decimals.rawValue ? .decimals : .bits
        var last: (Int64, Int64) = (0, 0)
        for _ in 0..<count {
            let value = last.0 &+ (try signed())
            last = (last.1, value)
            let bits = packing.unpacked(value)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
            }
        }
    }
}
