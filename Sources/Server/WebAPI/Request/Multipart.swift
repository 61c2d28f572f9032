/// `multipart/form-data` (RFC 7578) with one small text a part, as some clients send every call.
enum Multipart {
    static let maximumParts = 256
    /// Bytes of the headers of one part.
    static let maximumHeaderBytes = 4096

    /// The boundary of a `Content-Type` value; nil when it is no multipart form or has none.
    static func boundary(of contentType: String) -> String? {
        let pieces = TextParts.split(contentType, at: ";")
        guard pieces.first.map({ TextParts.trimmed($0).lowercased() }) == "multipart/form-data" else { return nil }
        for piece in pieces.dropFirst() {
            let piece = TextParts.trimmed(piece)
            guard begins(piece, with: "boundary=") else { continue }
            let value = String(
                decoding: piece.utf8.dropFirst("boundary=".utf8.count).filter { $0 != UInt8(ascii: "\"") },
                as: UTF8.self)
            // RFC 2046: 1 to 70 characters.
            return (1...70).contains(value.utf8.count) ? value : nil
        }
        return nil
    }

    /// Names and values in the order of their parts.
    static func pairs(_ body: [UInt8], boundary: String) throws(APIFailure) -> [(key: String, value: String)] {
        let delimiter = Array("--\(boundary)".utf8)
        guard var position = find(delimiter, in: body, from: 0) else { throw malformed("the boundary is missing") }
        var pairs: [(key: String, value: String)] = []
        while true {
            position += delimiter.count
            if body[position...].starts(with: "--".utf8) { return pairs }
            guard pairs.count < maximumParts else { throw malformed("over \(maximumParts) parts") }
            // White space may pad the boundary's line.
            while position < body.count, body[position] == 0x20 || body[position] == 0x09 { position += 1 }
            guard body[position...].starts(with: "\r\n".utf8) else {
                throw malformed("a boundary does not end its line")
            }
            position += 2
            let limit = min(body.count, position + maximumHeaderBytes)
            // A part without headers has its empty line at once.
            guard let end = find(Array("\r\n\r\n".utf8), in: Array(body[(position - 2)..<limit]), from: 0) else {
                throw malformed("the headers of a part do not end within \(maximumHeaderBytes) bytes")
            }
            let headers = body[position..<max(position, position - 2 + end)]
            let start = position - 2 + end + 4
            guard let next = find(Array("\r\n".utf8) + delimiter, in: body, from: start) else {
                throw malformed("the last part does not end")
            }
            guard let text = String(validating: headers, as: UTF8.self),
                let value = String(validating: body[start..<next], as: UTF8.self)
            else { throw APIFailure(.notUTF8) }
            guard let name = name(in: text) else { throw malformed("a part has no name") }
            pairs.append((name, value))
            position = next + 2
        }
    }

    private static func malformed(_ reason: String) -> APIFailure {
        APIFailure(.parameter, "multipart body: \(reason)")
    }

    /// The `name` of the `Content-Disposition` header, with or without quotes.
    private static func name(in headers: String) -> String? {
        for line in TextParts.split(headers, at: "\r", "\n") {
            let parts = TextParts.split(line, at: ";")
            let title = "content-disposition:"
            guard let first = parts.first, begins(first, with: title) else { continue }
            for piece in parts.dropFirst() {
                let piece = TextParts.trimmed(piece)
                guard begins(piece, with: "name=") else { continue }
                let value = Substring(piece.utf8.dropFirst("name=".utf8.count))
                guard value.utf8.first == UInt8(ascii: "\"") else { return String(value) }
                return String(Substring(value.utf8.dropFirst().prefix { $0 != UInt8(ascii: "\"") }))
            }
        }
        return nil
    }

    /// In letters of either size.
    private static func begins(_ text: some StringProtocol, with prefix: String) -> Bool {
        String(decoding: text.utf8.prefix(prefix.utf8.count), as: UTF8.self).lowercased() == prefix
    }

    /// Looks at each byte a bounded number of times, whatever both texts are (Knuth, Morris and Pratt, 1977).
    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard !pattern.isEmpty, start >= 0, start <= bytes.count else { return nil }
        // How much of the pattern's beginning stands at the end of each of its beginnings.
        var borders = [Int](repeating: 0, count: pattern.count)
        var matched = 0
        for index in pattern.indices.dropFirst() {
            while matched > 0, pattern[index] != pattern[matched] { matched = borders[matched - 1] }
            if pattern[index] == pattern[matched] { matched += 1 }
            borders[index] = matched
        }
        matched = 0
        for index in start..<bytes.count {
            while matched > 0, bytes[index] != pattern[matched] { matched = borders[matched - 1] }
            if bytes[index] == pattern[matched] { matched += 1 }
            if matched == pattern.count { return index + 1 - matched }
        }
        return nil
    }
}
