/// The tags and texts of an XML file, one after the other; everything else in it is passed over.
///
/// Namespaces are left out of names, entities other than the five of XML and numbers stand for nothing. One token is in
/// memory at a time.
package struct MarkupScanner {
    package enum Token: Hashable {
        case start(name: String, attributes: [String: String], isEmpty: Bool)
        case end(name: String)
        case text(String)
    }

    private static let maximumTagBytes = 16 * 1024
    /// Of a text; what is longer is cut.
    private static let maximumTextBytes = 4096

    private var source: ByteSource
    private let keepsLongTexts: Bool
    package var line: Int { source.line }

    /// With `keepsLongTexts`, a long text comes as several tokens that end with white space. A text without white space, and
    /// character data in brackets, are cut as ever.
    package init(_ source: ByteSource, keepsLongTexts: Bool = false) {
        self.source = source
        self.keepsLongTexts = keepsLongTexts
    }

    /// Nil at the end of the file.
    package mutating func next() throws(TrackFileError) -> Token? {
        while let byte = try source.peek() {
            guard byte == UInt8(ascii: "<") else { return .text(try text(until: "<", isMarkup: true)) }
            _ = try source.next()
            switch try source.peek() {
            case UInt8(ascii: "?"): try skip(through: "?>")
            case UInt8(ascii: "!"):
                _ = try source.next()
                if let text = try declaration() { return .text(text) }
            default: return try tag()
            }
        }
        return nil
    }

    private func error(_ detail: String) -> TrackFileError { TrackFileError(line: line, "no XML: \(detail)") }

    /// After `<!`: a comment, character data, or a document type.
    private mutating func declaration() throws(TrackFileError) -> String? {
        switch try source.peek() {
        case UInt8(ascii: "-"): try skip(through: "-->")
        case UInt8(ascii: "["):
            for expected in "[CDATA[".utf8 {
                guard try source.next() == expected else { throw error("'<![' without CDATA") }
            }
            return try text(until: "]]>", isMarkup: false)
        default:
            var depth = 0
            while let byte = try source.next() {
                if byte == UInt8(ascii: "[") { depth += 1 }
                if byte == UInt8(ascii: "]") { depth -= 1 }
                if byte == UInt8(ascii: ">"), depth <= 0 { return nil }
            }
            throw error("it ends within a declaration")
        }
        return nil
    }

    private mutating func skip(through end: String) throws(TrackFileError) {
        let end = Array(end.utf8)
        var last: [UInt8] = []
        while let byte = try source.next() {
            last.append(byte)
            if last.count > end.count { last.removeFirst() }
            if last == end { return }
        }
        throw error("it ends before \(String(decoding: end, as: UTF8.self))")
    }

    /// Character data until `end`, which is passed over unless it is the next tag's.
    private mutating func text(until end: String, isMarkup: Bool) throws(TrackFileError) -> String {
        let end = Array(end.utf8)
        var bytes: [UInt8] = []
        var isEnded = false
        while let byte = try source.peek() {
            if isMarkup, byte == end[0] { break }
            // Neither may stand in XML; a file with a hole would be read to its end.
            guard byte >= 0x20 || Self.isSpace(byte) else { throw error("the byte \(byte) is none of a text") }
            _ = try source.next()
            bytes.append(byte)
            if isMarkup, keepsLongTexts, bytes.count >= Self.maximumTextBytes / 2, Self.isSpace(byte) { break }
            if !isMarkup, bytes.suffix(end.count).elementsEqual(end) {
                bytes.removeLast(end.count)
                isEnded = true
                break
            }
            // The end must still be found behind what is cut.
            if bytes.count > 2 * Self.maximumTextBytes {
                bytes.removeSubrange(Self.maximumTextBytes..<(bytes.count - end.count))
            }
        }
        guard isMarkup || isEnded else { throw error("it ends within character data") }
        // A character that is cut in two must not make the text invalid.
        let isCut = bytes.count > Self.maximumTextBytes
        let kept = isCut ? Array(bytes.prefix(Self.maximumTextBytes).prefix { $0 < 0x80 }) : bytes
        return try string(kept[...], hasEntities: isMarkup)
    }

    private mutating func tag() throws(TrackFileError) -> Token {
        var bytes: [UInt8] = []
        var quote: UInt8?
        while let byte = try source.next() {
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: ">") {
                return try token(bytes[...])
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            guard bytes.count < Self.maximumTagBytes else { throw error("a tag of more than 16 KiB") }
            bytes.append(byte)
        }
        throw error("it ends within a tag")
    }

    private func token(_ tag: ArraySlice<UInt8>) throws(TrackFileError) -> Token {
        var rest = tag
        if rest.first == UInt8(ascii: "/") {
            return .end(name: try name(rest.dropFirst().prefix { !Self.isSpace($0) }))
        }
        let isEmpty = rest.last == UInt8(ascii: "/")
        if isEmpty { rest.removeLast() }
        let element = try name(rest.prefix { !Self.isSpace($0) })
        rest = rest.drop { !Self.isSpace($0) }
        var attributes: [String: String] = [:]
        while true {
            rest = rest.drop(while: Self.isSpace)
            if rest.isEmpty { return .start(name: element, attributes: attributes, isEmpty: isEmpty) }
            let key = try name(rest.prefix { $0 != UInt8(ascii: "=") && !Self.isSpace($0) })
            rest = rest.drop { $0 != UInt8(ascii: "=") }.dropFirst().drop(while: Self.isSpace)
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw error("the attribute \(key) has no value in quotes")
            }
            rest = rest.dropFirst()
            let value = rest.prefix { $0 != quote }
            attributes[key] = try string(value, hasEntities: true)
            rest = rest.dropFirst(value.count + 1)
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { " \t\r\n".utf8.contains(byte) }

    /// Without its namespace's prefix.
    private func name(_ bytes: ArraySlice<UInt8>) throws(TrackFileError) -> String {
        let local = bytes.split(separator: UInt8(ascii: ":")).last ?? []
        guard !local.isEmpty else { throw error("a tag or an attribute has no name") }
        return try string(local, hasEntities: false)
    }

    private func string(_ bytes: ArraySlice<UInt8>, hasEntities: Bool) throws(TrackFileError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw TrackFileError(line: line, source.encoding.problem)
        }
        return hasEntities && text.contains("&") ? Self.resolved(text) : text
    }

    private static func resolved(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            rest = rest[rest.index(after: ampersand)...]
            guard let end = rest.firstIndex(of: ";") else { break }
            result += character(rest[..<end])
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func character(_ entity: Substring) -> String {
        switch entity {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard entity.first == "#" else { return "" }
            let digits = entity.dropFirst()
            let number = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? ""
        }
    }
}
