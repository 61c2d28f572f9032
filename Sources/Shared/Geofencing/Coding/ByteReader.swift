/// Reads what ``ByteWriter`` wrote; any bytes may come.
struct ByteReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - index }
    /// The place of the next byte.
    var position: Int { index }

    mutating func pass(_ count: Int) throws(FenceStateCodingError) {
        guard count <= remaining else {
            throw FenceStateCodingError(description: "the fence state ends at byte \(bytes.count)")
        }
        index += count
    }

    mutating func byte() throws(FenceStateCodingError) -> UInt8 {
        guard index < bytes.count else {
            throw FenceStateCodingError(description: "the fence state ends at byte \(index)")
        }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func unsigned() throws(FenceStateCodingError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte()
            guard shift < 63 || next <= 1 else { break }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
        }
        throw FenceStateCodingError(description: "a number before byte \(index) is longer than 64 bits")
    }

    mutating func signed() throws(FenceStateCodingError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A number that must fit in 32 bits.
    mutating func number() throws(FenceStateCodingError) -> Int32 {
        let value = try signed()
        guard let number = Int32(exactly: value) else {
            throw FenceStateCodingError(description: "\(value) before byte \(index) is too large")
        }
        return number
    }

    /// A count of things of which each takes at least so many bytes.
    mutating func count(each least: Int) throws(FenceStateCodingError) -> Int {
        let value = try unsigned()
        guard value <= UInt64(remaining / least) else {
            throw FenceStateCodingError(description: "\(value) entries at byte \(index) do not fit")
        }
        return Int(value)
    }
}

/// Writes numbers in as few bytes as they need.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Seven bits a byte, the lowest first.
    mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Small numbers of either sign are short.
    mutating func signed(_ value: Int64) {
        unsigned(UInt64(bitPattern: value << 1 ^ value >> 63))
    }
}

/// Why a stored fence state cannot be read.
package struct FenceStateCodingError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}
