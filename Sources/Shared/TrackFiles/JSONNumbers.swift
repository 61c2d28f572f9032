/// What writers put into JSON where they have no number: `NaN`, `Infinity` and `-Infinity`, which JSON does not know (RFC 8259,
/// section 6). Python writes them.
package enum JSONNumbers {
    private static let words = ["NaN", "nan", "-NaN", "-nan", "Infinity", "-Infinity", "inf", "-inf"].map {
        Array($0.utf8)
    }
    .sorted { $0.count > $1.count }

    /// The same text with `null` in their places; at most one byte more for each, and up to five less.
    package static func withoutWords(_ bytes: [UInt8]) -> [UInt8] {
        // Texts with one of them are rare.
        guard hasWord(bytes) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 64)
        var (index, isText) = (0, false)
        while index < bytes.count {
            let byte = bytes[index]
            if isText {
                result.append(byte)
                index += 1
                if byte == UInt8(ascii: "\\"), index < bytes.count {
                    result.append(bytes[index])
                    index += 1
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            isText = byte == UInt8(ascii: "\"")
            let isStart =
                byte == UInt8(ascii: "N") || byte == UInt8(ascii: "I") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "n") || byte == UInt8(ascii: "i")
            if isStart, let word = word(in: bytes, at: index) {
                result += Array("null".utf8)
                index += word
            } else {
                result.append(byte)
                index += 1
            }
        }
        return result
    }

    private static func hasWord(_ bytes: [UInt8]) -> Bool {
        // `N` and `I` stand in none of JSON's own words; nor do `na` and `in`.
        var last: UInt8 = 0
        for byte in bytes {
            if byte == UInt8(ascii: "N") || byte == UInt8(ascii: "I") { return true }
            if last == UInt8(ascii: "n"), byte == UInt8(ascii: "a") { return true }
            if last == UInt8(ascii: "i"), byte == UInt8(ascii: "n") { return true }
            last = byte
        }
        return false
    }

    /// The length of the word that stands there, with nothing that would make it another one.
    private static func word(in bytes: [UInt8], at index: Int) -> Int? {
        let isEnd = { (at: Int) in
            at < 0 || at >= bytes.count || bytes[at] <= 0x20 || ",:[]{}".utf8.contains(bytes[at])
        }
        guard isEnd(index - 1) else { return nil }
        return words.first { bytes[index...].starts(with: $0) && isEnd(index + $0.count) }?.count
    }
}
