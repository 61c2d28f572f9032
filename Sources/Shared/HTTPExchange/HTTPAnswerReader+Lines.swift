/// The lines of a head, each for itself.
extension HTTPAnswerReader {
    /// `HTTP/1.1 200 OK`
    static func status(_ line: String) throws(HTTPExchangeError) -> Int {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", words[1].utf8.count == 3,
            let status = Int(words[1]), (100...999).contains(status)
        else { throw notHTTP(Array(line.utf8)) }
        return status
    }

    /// `Name: value`
    static func header(_ line: String) throws(HTTPExchangeError) -> HTTPAnswer.Header {
        // A folded line begins with white space. RFC 9112 lets a reader refuse it.
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
            line[..<colon].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw broken("a line of the head is no header") }
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let value = line[line.index(after: colon)...].drop(while: isSpace)
        let end = value.lastIndex { !isSpace($0) }.map { value.index(after: $0) } ?? value.startIndex
        return .init(name: line[..<colon].lowercased(), value: String(value[..<end]))
    }

    /// `1a2b;extension`
    static func chunkSize(_ line: String) throws(HTTPExchangeError) -> Int {
        let digits = line.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        // 15 digits of base 16 fit into Int.
        guard (1...15).contains(digits.utf8.count), digits.allSatisfy(\.isHexDigit), let size = Int(digits, radix: 16)
        else { throw broken("the size of a chunk is no number") }
        return size
    }

    static func broken(_ what: String) -> HTTPExchangeError {
        HTTPExchangeError(.notHTTP, "the answer breaks the rules of HTTP: \(what)")
    }

    static func notHTTP(_ bytes: [UInt8]) -> HTTPExchangeError {
        let start = String(decoding: bytes.prefix(24).map { (0x20..<0x7F).contains($0) ? $0 : 0x2E }, as: UTF8.self)
        return HTTPExchangeError(.notHTTP, "the answer is no HTTP/1.1: it begins with \"\(start)\"")
    }
}
