/// Reads the bits of ``BitWriter``. Past the end it returns zeros and remembers the failure. So the loops over columns
/// need no check for each number; the reader of a column asks ``hasFailed`` afterwards.
struct BitReader {
    private let bytes: [UInt8]
    private let bitCount: Int
    private var position: Int
    private(set) var hasFailed = false

    /// Starts after the first `skipping` bytes.
    init(_ bytes: [UInt8], skipping: Int) {
        self.bytes = bytes
        bitCount = bytes.count * 8
        position = skipping * 8
    }

    var remainingBytes: Int { bytes.count - (position + 7) / 8 }
    var isAtEnd: Bool { position == bitCount }

    mutating func fail() { hasFailed = true }

    /// The next `count` bits, 0...64.
    mutating func read(bits count: Int) -> UInt64 {
        guard count > 0 else { return 0 }
        let value = window() >> UInt64(64 - count)
        advance(count)
        return value
    }

    mutating func readBit() -> Bool { read(bits: 1) == 1 }

    /// The exponential Golomb code of order `order`, 0...63.
    mutating func readGolomb(order: Int) -> UInt64 {
        let ahead = window()
        let zeros = ahead.leadingZeroBitCount
        if zeros == 64 {
            advance(64)
            return .max
        }
        let length = zeros + 1 + order
        if zeros + length <= 64 {
            let value = (ahead << UInt64(zeros)) >> UInt64(64 - length)
            advance(zeros + length)
            return value - (1 << UInt64(order))
        }
        advance(zeros)
        let quotient = read(bits: zeros + 1) - 1
        let low = read(bits: order)
        // A quotient whose bits do not fit beside the low bits gives a number of more than 64 bits.
        if quotient.leadingZeroBitCount < order { fail() }
        return quotient << UInt64(order) | low
    }

    /// Skips to the next whole byte. The skipped bits must be zero.
    mutating func align() {
        let padding = -position & 7
        if read(bits: padding) != 0 { fail() }
    }

    /// An unsigned LEB128 number of at most 28 bits; only after ``align()``.
    mutating func readVarint() -> Int {
        var value = 0
        for shift in stride(from: 0, to: 28, by: 7) {
            let byte = Int(read(bits: 8))
            value |= (byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        fail()
        return 0
    }

    /// The next `count` bytes as text. Nil, and a failure, when there are fewer bytes or they are not UTF-8. Only after
    /// ``align()``.
    mutating func readString(bytes count: Int) -> String? {
        let start = position / 8
        guard count <= bytes.count - start else {
            fail()
            return nil
        }
        position += count * 8
        let text = String(validating: bytes[start..<start + count], as: UTF8.self)
        if text == nil { fail() }
        return text
    }

    private mutating func advance(_ count: Int) {
        position += count
        if position > bitCount {
            position = bitCount
            hasFailed = true
        }
    }

    /// The next 64 bits; zeros past the end.
    private func window() -> UInt64 {
        let byte = position >> 3
        let shift = UInt64(position & 7)
        if byte + 9 <= bytes.count {
            let (word, next) = bytes.withUnsafeBytes { raw in
                (raw.loadUnaligned(fromByteOffset: byte, as: UInt64.self), raw[byte + 8])
            }
            return word.bigEndian << shift | UInt64(next) >> (8 - shift)
        }
        var word: UInt64 = 0
        for offset in 0..<8 { word = word << 8 | UInt64(byte + offset < bytes.count ? bytes[byte + offset] : 0) }
        // Within the last nine bytes the ninth byte only matters when exactly eight bytes come before it.
        return word << shift
    }
}
