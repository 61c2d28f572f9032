internal import Logging

/// One entry in the journal's native format (systemd.io/JOURNAL_NATIVE_PROTOCOL).
///
/// A value without line breaks becomes `NAME=value`. Any other value becomes the name, a line break, the value's length
/// as 64 bits little-endian, and the bytes.
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    /// The longest value in bytes; the rest of a longer value is cut.
    static let maximumValue = 256 << 10

    mutating func append(_ name: String, _ value: String) {
        // If the cut were in the middle of a character, the journal would show the field as binary.
        let value = value.utf8.wholeCharacters(upTo: Self.maximumValue)
        bytes += name.utf8
        if value.contains(0x0A) {
            bytes.append(0x0A)
            let count = UInt64(value.count)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
        bytes.append(0x0A)
    }

    /// The field for a metadata key: `SAKER_` and the key in capitals, with `_` for characters that a name cannot hold.
    ///
    /// The journal accepts A...Z, 0...9 and `_`, at most 64 bytes, and no `_` or digit at the beginning.
    static func fieldName(forKey key: String) -> String {
        let name = key.utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 32
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        return String(decoding: (Array("SAKER_".utf8) + name).prefix(64), as: UTF8.self)
    }

    /// The number that syslog(3) has for a level.
    static func priority(of level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "7"
        case .info: "6"
        case .notice: "5"
        case .warning: "4"
        case .error: "3"
        case .critical: "2"
        }
    }
}

extension String.UTF8View {
    /// The first bytes, at most `limit`. Cuts no character in two.
    func wholeCharacters(upTo limit: Int) -> [UInt8] {
        var bytes = Array(prefix(limit &+ 1))
        guard bytes.count > limit else { return bytes }
        // The byte after the limit shows whether a character ends at the limit.
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
        return bytes
    }
}
