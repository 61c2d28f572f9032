internal import Geofencing

/// Reads numbers of fixed length, the lowest byte first.
struct FixedBytes {
    private var rest: ArraySlice<UInt8>
    private let what: String

    /// `what`: for errors.
    init(_ bytes: [UInt8], of what: String) {
        rest = bytes[...]
        self.what = what
    }

    var remaining: [UInt8] { Array(rest) }

    mutating func take(_ count: Int) throws(MemoryCodingError) -> ArraySlice<UInt8> {
        guard count >= 0, rest.count >= count else {
            throw MemoryCodingError(description: "\(what) ends too early")
        }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func integer<Integer: FixedWidthInteger>(_: Integer.Type = Integer.self) throws(MemoryCodingError)
        -> Integer
    {
        try take(Integer.bitWidth / 8).reversed().reduce(Integer.zero) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
    }

    /// Bytes behind their number.
    mutating func counted() throws(MemoryCodingError) -> [UInt8] {
        Array(try take(Int(try integer(UInt32.self))))
    }

    mutating func text() throws(MemoryCodingError) -> String {
        guard let text = String(validating: try counted(), as: UTF8.self) else {
            throw MemoryCodingError(description: "\(what) has a text that is not UTF-8")
        }
        return text
    }
}

extension [UInt8] {
    mutating func append(fixed number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Bytes behind their number.
    mutating func append(counted bytes: some Collection<UInt8>) {
        append(fixed: UInt32(clamping: bytes.count))
        append(contentsOf: bytes)
    }
}
