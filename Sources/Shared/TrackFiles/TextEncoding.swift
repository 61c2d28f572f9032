/// How the bytes of a text file stand for characters.
package enum TextEncoding: Hashable, Sendable {
    case utf8
    /// Also what is called ISO 8859-1: the characters in which they differ are control characters there, and stand in no file.
    case windows1252
    case utf16(isLittleEndian: Bool)
    /// One that the file names and that is not read: only what is the same in ASCII.
    case unknown(String)

    /// A name as XML declarations and people write it; nil for an unknown one. UTF-16 without its order is known by the file's
    /// mark, so it has no name here.
    package init?(name: String) {
        switch name.lowercased().filter({ $0 != "_" && $0 != "-" }) {
        case "utf8", "usascii", "ascii": self = .utf8
        case "iso88591", "latin1", "windows1252", "cp1252": self = .windows1252
        case "utf16le": self = .utf16(isLittleEndian: true)
        case "utf16be": self = .utf16(isLittleEndian: false)
        default: return nil
        }
    }

    /// For people.
    package var name: String {
        switch self {
        case .utf8: "UTF-8"
        case .windows1252: "Windows-1252"
        case .utf16: "UTF-16"
        case .unknown(let name): name
        }
    }

    /// What is wrong with a text that is none in this encoding; the subject stands before it.
    var problem: String {
        switch self {
        case .utf8: "is not UTF-8: convert the file, for example with iconv"
        case .windows1252, .utf16:
            "has bytes that are no text in \(name): is the file written in another encoding?"
        case .unknown:
            "has characters in the encoding that the file names, \"\(name)\", which is not read: convert it"
                + (isPlainName ? " with iconv -f \(name) -t UTF-8" : " to UTF-8")
                + ", or say with --encoding how it really is written"
        }
    }

    /// Whether the name is one as XML allows it. A file may name anything, and a person copies the command.
    private var isPlainName: Bool {
        name.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains($0))
        }
            && name.unicodeScalars.first?.properties.isAlphabetic == true
    }

    /// What the first bytes of a file say for certain: a mark, or the zero beside the first character of UTF-16. Nil: nothing.
    init?(marked start: ArraySlice<UInt8>) {
        if start.starts(with: [0xFF, 0xFE]) {
            self = .utf16(isLittleEndian: true)
        } else if start.starts(with: [0xFE, 0xFF]) {
            self = .utf16(isLittleEndian: false)
        } else if start.starts(with: [0xEF, 0xBB, 0xBF]) {
            self = .utf8
        } else if start.count > 1, (start.first == 0) != (start.dropFirst().first == 0) {
            self = .utf16(isLittleEndian: start.first != 0)
        } else {
            return nil
        }
    }

    /// The name in the declaration at the beginning of an XML file; nil when there is none.
    static func declared(_ start: ArraySlice<UInt8>) -> String? {
        guard start.starts(with: "<?xml".utf8) else { return nil }
        let key = Array("encoding".utf8)
        var rest = start.prefix { $0 != UInt8(ascii: ">") }
        while !rest.starts(with: key) {
            guard !rest.isEmpty else { return nil }
            rest = rest.dropFirst()
        }
        rest = rest.dropFirst(key.count).drop { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: " ") }
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        return String(decoding: rest.dropFirst().prefix { $0 != quote }, as: UTF8.self)
    }
}

/// Makes UTF-8 of the bytes of a file, piece by piece. What is no character becomes a byte that is none of UTF-8, so that whoever
/// reads the text finds the place.
struct TextDecoder {
    /// Never part of UTF-8.
    private static let wrong: UInt8 = 0xFF
    /// The characters 0x80 to 0x9F of Windows-1252; 0: none.
    private static let special: [UInt32] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    private let encoding: TextEncoding
    /// UTF-16: the first half of a unit, and the first unit of a pair, of the piece before.
    private var half: UInt8?
    private var high: UInt32?

    init(_ encoding: TextEncoding) {
        self.encoding = encoding
    }

    /// `isLast`: nothing follows these bytes.
    mutating func decode(_ bytes: some Sequence<UInt8>, isLast: Bool) -> [UInt8] {
        var text: [UInt8] = []
        for byte in bytes {
            switch encoding {
            case .utf8: text.append(byte)
            case .unknown: text.append(byte < 0x80 ? byte : Self.wrong)
            case .windows1252:
                let isSpecial = (0x80...0x9F).contains(byte)
                let code = isSpecial ? Self.special[Int(byte) - 0x80] : UInt32(byte)
                Self.add(isSpecial && code == 0 ? nil : code, to: &text)
            case .utf16(let isLittleEndian):
                guard let first = half else {
                    half = byte
                    continue
                }
                half = nil
                let (low, high) = isLittleEndian ? (first, byte) : (byte, first)
                addUnit(UInt32(high) << 8 | UInt32(low), to: &text)
            }
        }
        if isLast, half != nil || high != nil {
            text.append(Self.wrong)
            (half, high) = (nil, nil)
        }
        return text
    }

    private mutating func addUnit(_ unit: UInt32, to text: inout [UInt8]) {
        if let first = high {
            high = nil
            guard (0xDC00...0xDFFF).contains(unit) else {
                text.append(Self.wrong)
                return addUnit(unit, to: &text)
            }
            return Self.add(0x10000 + (first - 0xD800) << 10 + (unit - 0xDC00), to: &text)
        }
        if (0xD800...0xDBFF).contains(unit) { high = unit } else { Self.add(unit, to: &text) }
    }

    private static func add(_ code: UInt32?, to text: inout [UInt8]) {
        guard let code, let scalar = Unicode.Scalar(code), let bytes = UTF8.encode(scalar) else {
            text.append(wrong)
            return
        }
        text.append(contentsOf: bytes)
    }
}
