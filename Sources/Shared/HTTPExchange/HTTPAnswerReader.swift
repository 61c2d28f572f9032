/// Reads one answer of HTTP/1.1 (RFC 9112) piece by piece. A machine: bytes in, an answer or an error out.
///
/// Strict where two readers could disagree about where an answer ends: two lengths, a length beside chunks, and a coding
/// that it does not know are errors. A line may end with a line feed alone.
package struct HTTPAnswerReader: Sendable {
    package enum Action: Hashable, Sendable {
        /// More bytes are needed.
        case wait
        case done(HTTPAnswer)
        case fail(HTTPExchangeError)
    }

    private enum State: Hashable {
        case statusLine
        case headers
        /// So many bytes of the body are missing.
        case body(Int)
        /// The body goes on to the end of the connection.
        case bodyToTheEnd
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailers
        case over
    }

    private let limits: HTTPLimits
    private var state = State.statusLine
    private var answer = HTTPAnswer(status: 0)
    /// The begin of a line whose end is not here yet.
    private var line: [UInt8] = []
    /// Bytes of lines since the begin, or since the last chunk.
    private var lineBytes = 0
    /// Bytes of the body before the piece that was kept last.
    private var bodyBefore = 0
    /// The server does not say that it closes the connection.
    private var isPersistent = false

    package init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// Whether nothing of an answer has come.
    var isUntouched: Bool { state == .statusLine && line.isEmpty && lineBytes == 0 }
    /// Another request may follow on the connection: the answer said where it ends, and nothing came behind it. Known after `done`.
    private(set) var leavesConnection = false

    /// Bytes of the connection. After `done` or `fail` further bytes change nothing.
    package mutating func received(_ bytes: [UInt8]) -> Action {
        var rest = bytes[...]
        do throws(HTTPExchangeError) {
            while !rest.isEmpty, state != .over {
                let hasEnd = state != .bodyToTheEnd
                if let answer = try take(&rest) {
                    leavesConnection = hasEnd && rest.isEmpty && isPersistent
                    return finish(answer)
                }
            }
        } catch {
            state = .over
            return .fail(error)
        }
        return .wait
    }

    /// The connection ended. `isWhole`: the other side said so, and nobody on the way cut it.
    package mutating func ended(isWhole: Bool) -> Action {
        switch state {
        case .over: return .wait
        case .bodyToTheEnd where isWhole: return finish(answer)
        case .statusLine where isUntouched:
            state = .over
            return .fail(HTTPExchangeError(.cut, "the connection ended without an answer"))
        default:
            state = .over
            return .fail(HTTPExchangeError(.cut, "the connection ended in the middle of the answer"))
        }
    }

    private mutating func finish(_ answer: HTTPAnswer) -> Action {
        state = .over
        return .done(answer)
    }

    /// Takes what the state can use; the answer when it is whole.
    private mutating func take(_ rest: inout ArraySlice<UInt8>) throws(HTTPExchangeError) -> HTTPAnswer? {
        switch state {
        case .over: rest = []
        case .body(let missing):
            try keep(&rest, missing)
            state = .body(missing - (answer.body.count - bodyBefore))
            if case .body(0) = state { return answer }
        case .bodyToTheEnd: try keep(&rest, .max)
        case .chunk(let missing):
            try keep(&rest, missing)
            let left = missing - (answer.body.count - bodyBefore)
            state = left == 0 ? .chunkEnd : .chunk(left)
        case .statusLine, .headers, .chunkSize, .chunkEnd, .trailers:
            guard let text = try takeLine(&rest) else { return nil }
            return try read(line: text)
        }
        return nil
    }

    private mutating func keep(_ rest: inout ArraySlice<UInt8>, _ most: Int) throws(HTTPExchangeError) {
        bodyBefore = answer.body.count
        let piece = rest.prefix(most)
        guard answer.body.count + piece.count <= limits.bodyBytes else { throw tooLong }
        answer.body += piece
        rest = rest.dropFirst(piece.count)
    }

    private var tooLong: HTTPExchangeError {
        HTTPExchangeError(.tooLarge, "the answer is longer than \(limits.bodyBytes) bytes")
    }

    /// A line without its end; nil when the end is not here yet.
    private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) throws(HTTPExchangeError) -> String? {
        let end = rest.firstIndex(of: 0x0A)
        let piece = rest[..<(end ?? rest.endIndex)]
        lineBytes += piece.count + (end == nil ? 0 : 1)
        guard lineBytes <= limits.headBytes else {
            throw HTTPExchangeError(.tooLarge, "the answer's head is longer than \(limits.headBytes) bytes")
        }
        line += piece
        rest = end.map { rest[($0 + 1)...] } ?? []
        guard end != nil else {
            // Whatever answers with something else is recognised before its first line ends.
            if state == .statusLine, line.count >= 5, !line.starts(with: "HTTP/".utf8) { throw Self.notHTTP(line) }
            return nil
        }
        if line.last == 0x0D { line.removeLast() }
        defer { line = [] }
        guard !line.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { throw Self.notHTTP(line) }
        return String(decoding: line, as: UTF8.self)
    }

    private mutating func read(line text: String) throws(HTTPExchangeError) -> HTTPAnswer? {
        switch state {
        case .statusLine:
            answer = HTTPAnswer(status: try Self.status(text))
            isPersistent = text.hasPrefix("HTTP/1.1 ")
            state = .headers
        case .headers where !text.isEmpty:
            let header = try Self.header(text)
            answer.headers.append(header)
            if header.name == "connection", header.value.lowercased().contains("close") { isPersistent = false }
        case .headers: return try headEnded()
        case .chunkSize:
            let size = try Self.chunkSize(text)
            guard size <= limits.bodyBytes - answer.body.count else { throw tooLong }
            // Each chunk brings a byte of the body at least, whose number has a limit.
            lineBytes = 0
            state = size == 0 ? .trailers : .chunk(size)
        case .chunkEnd:
            guard text.isEmpty else { throw Self.broken("a chunk is longer than its size") }
            state = .chunkSize
        case .trailers: return text.isEmpty ? answer : nil
        case .body, .bodyToTheEnd, .chunk, .over: break
        }
        return nil
    }

    private mutating func headEnded() throws(HTTPExchangeError) -> HTTPAnswer? {
        guard answer.status != 101 else { throw Self.broken("the server changes the protocol, which nobody asked for") }
        guard answer.status >= 200 else {
            // "Continue" and the like: the answer itself follows.
            state = .statusLine
            return nil
        }
        if answer.status == 204 || answer.status == 304 { return answer }
        if let coding = answer["content-encoding"], coding.lowercased() != "identity" {
            throw Self.broken("the body has the coding \(coding.prefix(40)), which nobody asked for")
        }
        let codings = answer.headers.filter { $0.name == "transfer-encoding" }
        let lengths = Set(answer.headers.filter { $0.name == "content-length" }.map(\.value))
        guard codings.isEmpty else {
            guard codings.count == 1, codings[0].value.lowercased() == "chunked", lengths.isEmpty else {
                throw Self.broken("the body's transfer coding is not 'chunked' alone")
            }
            state = .chunkSize
            return nil
        }
        guard let length = lengths.first else {
            state = .bodyToTheEnd
            return nil
        }
        guard lengths.count == 1, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !length.isEmpty else {
            throw Self.broken("the body's length is no number, or there are two")
        }
        // A number that is too long for Int is too long for every limit.
        guard let bytes = Int(length), bytes <= limits.bodyBytes else { throw tooLong }
        state = .body(bytes)
        return bytes == 0 ? answer : nil
    }
}

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
    static func header(_ line: String) throws(HTTPExchangeError) -> HTTPHeader {
        // A folded line begins with white space. RFC 9112 lets a reader refuse it.
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
            line[..<colon].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw broken("a line of the head is no header") }
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let value = line[line.index(after: colon)...].drop(while: isSpace)
        let end = value.lastIndex { !isSpace($0) }.map { value.index(after: $0) } ?? value.startIndex
        return HTTPHeader(line[..<colon].lowercased(), String(value[..<end]))
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

/// A whole answer.
package struct HTTPAnswer: Hashable, Sendable {
    /// 200...999; informal answers (1xx) never end an exchange.
    package var status: Int
    /// In their order, names in lower case, values without white space around them.
    package var headers: [HTTPHeader] = []
    package var body: [UInt8] = []

    /// The value of the first header of this name, which is in lower case.
    package subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// What an exchange may cost. Every wait and every buffer has a limit.
package struct HTTPLimits: Hashable, Sendable {
    /// Until a connection is there, with TLS: half for each of both.
    package var connect: Duration
    /// From the begin to the end of the answer.
    package var total: Duration
    /// Bytes of the answer's head, and of the lines between two chunks.
    package var headBytes: Int
    package var bodyBytes: Int

    package init(
        connect: Duration = .seconds(20), total: Duration = .seconds(60), headBytes: Int = 64 << 10,
        bodyBytes: Int = 1 << 20
    ) {
        (self.connect, self.total) = (connect, total)
        (self.headBytes, self.bodyBytes) = (headBytes, bodyBytes)
    }
}
