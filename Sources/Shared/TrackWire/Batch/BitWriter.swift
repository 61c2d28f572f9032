/// Writes bits, the most significant bit first.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    /// Bits that are not yet in `bytes`, at the low end. Fewer than eight between calls.
    private var pending: UInt64 = 0
    private var pendingCount = 0

    init(startingWith bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    /// The low `count` bits of `value`, 0...64.
    mutating func write(_ value: UInt64, bits count: Int) {
        if count > 32 {
            write(value >> 32, bits: count - 32)
            write(value, bits: 32)
            return
        }
        pending = pending << UInt64(count) | value & ((1 << UInt64(count)) - 1)
        pendingCount += count
        while pendingCount >= 8 {
            pendingCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
        }
    }

    mutating func write(_ bit: Bool) { write(bit ? 1 : 0, bits: 1) }

    /// Zero bits up to the next whole byte.
    mutating func align() {
        if pendingCount > 0 { write(0, bits: 8 - pendingCount) }
    }

    /// The exponential Golomb code of order `order`, 0...63.
    mutating func writeGolomb(_ value: UInt64, order: Int) {
        let quotient = value >> UInt64(order)
        guard quotient != .max else {
            // 2^64 has 65 bits; the zeros alone express it.
            write(0, bits: 64)
            return
        }
        let length = 64 - (quotient + 1).leadingZeroBitCount
        write(0, bits: length - 1)
        write(quotient + 1, bits: length)
        write(value, bits: order)
    }

    /// Whole bytes, unchanged. Only after ``align()``.
    mutating func append(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Unsigned LEB128, as in Protocol Buffers. Only after ``align()``.
    mutating func appendVarint(_ value: Int) {
        var rest = UInt64(value)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
