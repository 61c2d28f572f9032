/// `multipart/form-data` (RFC 7578) with one small text a part, as some clients send every call.
enum Multipart {
    static let maximumParts = 256
    /// Bytes of the headers of one part.
    static let maximumHeaderBytes = 4096

    /// The boundary of a `Content-Type` value; nil when it is no multipart form or has none.
    static func boundary(of contentType: String) -> String? {
        let pieces = contentType.split(separator: ";")
        guard pieces.first.map({ trimmed($0).lowercased() }) == "multipart/form-data" else { return nil }
        for piece in pieces.dropFirst() {
            let piece = trimmed(piece)
            guard piece.lowercased().hasPrefix("boundary=") else { continue }
            let value = piece.dropFirst("boundary=".count).filter { $0 != "\"" }
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
        for line in headers.split(whereSeparator: \.isNewline) where line.lowercased().hasPrefix("content-disposition:")
        {
            for piece in line.split(separator: ";").dropFirst() {
                let piece = trimmed(piece)
                guard piece.lowercased().hasPrefix("name=") else { continue }
                let value = piece.dropFirst("name=".count)
                return value.hasPrefix("\"") ? String(value.dropFirst().prefix { $0 != "\"" }) : String(value)
            }
        }
        return nil
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        return String(String(start).reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard let first = pattern.first, bytes.count >= pattern.count, start >= 0 else { return nil }
        var index = start
        while index <= bytes.count - pattern.count {
            guard let candidate = bytes[index...].firstIndex(of: first) else { return nil }
            if bytes[candidate...].starts(with: pattern) { return candidate }
            index = candidate + 1
        }
        return nil
    }
}
