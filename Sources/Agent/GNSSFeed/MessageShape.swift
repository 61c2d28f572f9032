/// Checks a line before libgps sees it: is it one JSON object, which message of gpsd is it, and where are its parts?
///
/// libgps 3.22 (and later releases) parses a line again from the place where it failed. If a `class` follows behind
/// that place, libgps fails there again and never returns. So libgps gets only a single well-formed object whose only
/// `"class":` comes first; then no rest of the object can start the loop. gpsd writes its messages in this form.
struct MessageShape: Hashable {
    enum Kind: Hashable {
        case version
        case devices
        case device
        case position
        case sky
        case error
        /// Another class, which the feed does not need.
        case other
    }

    let kind: Kind
    /// The objects in an array of the outermost object, at most ``mostElements``: the devices of a DEVICES.
    let elements: [Range<Int>]
    /// The outermost object has an array: in a SKY, the array of satellites.
    let hasArray: Bool

    static let mostElements = 16
    fileprivate static let deepest = 16

    /// Nil when the bytes are not a message of gpsd.
    init?(_ bytes: borrowing [UInt8], in range: Range<Int>) {
        guard let kind = Kind(bytes, in: range) else { return nil }
        var scanner = Scanner(at: range.lowerBound, end: range.upperBound)
        guard scanner.scanObject(bytes) else { return nil }
        // Elements are decoded one by one, under the same rule. Every other message is decoded as a whole.
        switch kind {
        case .devices:
            guard scanner.elements.allSatisfy({ Self.isDevice(bytes, in: $0) }) else { return nil }
        case .other:
            break
        case .version, .device, .position, .sky, .error:
            guard Self.count(of: "\"class\":", bytes, in: range, upTo: 2) == 1 else { return nil }
        }
        self.kind = kind
        elements = kind == .devices ? scanner.elements : []
        hasArray = scanner.hasArray
    }

    private static func isDevice(_ bytes: borrowing [UInt8], in range: Range<Int>) -> Bool {
        Kind(bytes, in: range) == .device && count(of: "\"class\":", bytes, in: range, upTo: 2) == 1
    }

    private static func count(
        of pattern: StaticString, _ bytes: borrowing [UInt8], in range: Range<Int>, upTo most: Int
    ) -> Int {
        var found = 0
        var index = range.lowerBound
        while index < range.upperBound, found < most {
            if bytes[index] == UInt8(ascii: "\""), matches(pattern, bytes, at: index, end: range.upperBound) {
                found += 1
            }
            index += 1
        }
        return found
    }

    fileprivate static func matches(_ text: StaticString, _ bytes: borrowing [UInt8], at index: Int, end: Int) -> Bool {
        guard end - index >= text.utf8CodeUnitCount else { return false }
        for offset in 0..<text.utf8CodeUnitCount where unsafe bytes[index + offset] != text.utf8Start[offset] {
            return false
        }
        return true
    }
}

extension MessageShape.Kind {
    /// Reads the class, which must be the first attribute, without spaces.
    fileprivate init?(_ bytes: borrowing [UInt8], in range: Range<Int>) {
        let start: StaticString = "{\"class\":\""
        guard MessageShape.matches(start, bytes, at: range.lowerBound, end: range.upperBound) else { return nil }
        let name = range.lowerBound + start.utf8CodeUnitCount
        func isClass(_ text: StaticString) -> Bool {
            MessageShape.matches(text, bytes, at: name, end: range.upperBound)
        }
        if isClass("TPV\"") {
            self = .position
        } else if isClass("SKY\"") {
            self = .sky
        } else if isClass("VERSION\"") {
            self = .version
        } else if isClass("DEVICES\"") {
            self = .devices
        } else if isClass("DEVICE\"") {
            self = .device
        } else if isClass("ERROR\"") {
            self = .error
        } else {
            self = .other
        }
    }
}

/// Walks through one JSON object (RFC 8259) without building anything; at most 16 levels deep.
private struct Scanner {
    var index: Int
    let end: Int
    var elements: [Range<Int>] = []
    var hasArray = false
    /// One bit for each level, the innermost lowest: set for an object, clear for an array.
    private var levels: UInt32 = 0
    private var depth = 0
    private var elementStart = 0

    init(at index: Int, end: Int) {
        self.index = index
        self.end = end
    }

    /// True when exactly one object fills the range.
    mutating func scanObject(_ bytes: borrowing [UInt8]) -> Bool {
        guard open(bytes) else { return false }
        while depth > 0 {
            skipSpace(bytes)
            guard index < end else { return false }
            if bytes[index] == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                close()
                guard depth > 0 else { break }
                guard separator(bytes) else { return false }
                continue
            }
            if isInObject {
                guard string(bytes) else { return false }
                skipSpace(bytes)
                guard index < end, bytes[index] == UInt8(ascii: ":") else { return false }
                index += 1
                skipSpace(bytes)
                guard index < end else { return false }
            }
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard open(bytes) else { return false }
            case UInt8(ascii: "\""):
                guard string(bytes), separator(bytes) else { return false }
            default:
                guard token(bytes), separator(bytes) else { return false }
            }
        }
        return index == end
    }

    private var isInObject: Bool { levels & 1 == 1 }

    private mutating func open(_ bytes: borrowing [UInt8]) -> Bool {
        guard index < end, depth < MessageShape.deepest else { return false }
        let isObject = bytes[index] == UInt8(ascii: "{")
        if depth == 1, !isObject { hasArray = true }
        if depth == 2, isObject { elementStart = index }
        levels = levels << 1 | (isObject ? 1 : 0)
        depth += 1
        index += 1
        return true
    }

    private mutating func close() {
        let wasObject = isInObject
        levels >>= 1
        depth -= 1
        index += 1
        if depth == 2, wasObject, !isInObject, elements.count < MessageShape.mostElements {
            elements.append(elementStart..<index)
        }
    }

    /// After a value: a comma that something follows, or the end of the object or array.
    private mutating func separator(_ bytes: borrowing [UInt8]) -> Bool {
        skipSpace(bytes)
        guard index < end else { return false }
        let closing = isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        if bytes[index] == closing { return true }
        guard bytes[index] == UInt8(ascii: ",") else { return false }
        index += 1
        skipSpace(bytes)
        return index < end && bytes[index] != closing
    }

    private mutating func skipSpace(_ bytes: borrowing [UInt8]) {
        while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    }

    private mutating func string(_ bytes: borrowing [UInt8]) -> Bool {
        guard bytes[index] == UInt8(ascii: "\"") else { return false }
        index += 1
        while index < end {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte < 0x20 { return false }
            if byte == UInt8(ascii: "\\") {
                guard index < end, bytes[index] >= 0x20 else { return false }
                index += 1
            }
        }
        return false
    }

    /// A number, `true`, `false` or `null`. Checks only the characters; libgps reads the value.
    private mutating func token(_ bytes: borrowing [UInt8]) -> Bool {
        let first = index
        while index < end {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                index += 1
            default:
                return index > first
            }
        }
        return false
    }
}
