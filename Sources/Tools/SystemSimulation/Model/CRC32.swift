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
