/// Reads one HTTP/1 request for the metrics, byte by byte as it comes. Knows no socket.
///
/// Nothing but the request line matters: what the headers say changes no answer, so they are only passed over, and
/// the connection ends after it, so a body need not be read.
package struct MetricsRequest: Sendable {
    package enum Answer: Hashable, Sendable {
        /// `GET` or, without the page itself, `HEAD`.
        case page(isBodyWanted: Bool)
        case refused(Refusal)
    }

    /// The raw values are HTTP's status numbers.
    package enum Refusal: Int, Hashable, Sendable, CaseIterable {
        case malformed = 400
        case elsewhere = 404
        case method = 405
        case tooLarge = 431
        case version = 505

        var reason: String {
            switch self {
            case .malformed: "Bad Request"
            case .elsewhere: "Not Found"
            case .method: "Method Not Allowed"
            case .tooLarge: "Request Header Fields Too Large"
            case .version: "HTTP Version Not Supported"
            }
        }

        var advice: String {
            switch self {
            case .malformed: "this is no HTTP request"
            case .elsewhere: "the metrics are at \(MetricsRequest.path)"
            case .method: "the metrics are read with GET"
            case .tooLarge: "a request may have \(MetricsRequest.maximumBytes) bytes"
            case .version: "HTTP/1.1 and HTTP/1.0 are spoken here"
            }
        }
    }

    package static let path = "/metrics"
    /// Bytes of request line and headers.
    package static let maximumBytes = 8192

    private var size = 0
    /// The request line, then each header line, without its end.
    private var line: [UInt8] = []
    private var first: [UInt8]?

    package init() {}

    /// The answer as soon as there is one; nil: more is needed. Not to be called again after an answer.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> Answer? {
        for byte in bytes {
            size += 1
            guard size <= Self.maximumBytes else { return .refused(.tooLarge) }
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if line.isEmpty, let first { return Self.answer(first) }
            // Empty lines before a request line are passed over (RFC 9112, section 2.2).
            if first == nil, !line.isEmpty { first = line }
            line = []
        }
        return nil
    }

    private static func answer(_ requestLine: [UInt8]) -> Answer {
        let words = requestLine.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty }),
            requestLine.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { return .refused(.malformed) }
        guard words[2].starts(with: "HTTP/".utf8) else { return .refused(.malformed) }
        guard words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8) else {
            return .refused(.version)
        }
        guard words[1].prefix(while: { $0 != UInt8(ascii: "?") }).elementsEqual(path.utf8) else {
            return .refused(.elsewhere)
        }
        if words[0].elementsEqual("GET".utf8) { return .page(isBodyWanted: true) }
        if words[0].elementsEqual("HEAD".utf8) { return .page(isBodyWanted: false) }
        return .refused(.method)
    }

    // MARK: Responses

    /// The whole response with a page.
    package static func response(page: [UInt8], isBodyWanted: Bool) -> [UInt8] {
        let head = header("200 OK", type: MetricsPage.contentType, length: page.count)
        return isBodyWanted ? head + page : head
    }

    package static func response(_ refusal: Refusal) -> [UInt8] {
        let text = Array("\(refusal.advice)\n".utf8)
        let allow = refusal == .method ? "Allow: GET, HEAD\r\n" : ""
        return header(
            "\(refusal.rawValue) \(refusal.reason)", type: "text/plain; charset=utf-8", length: text.count, allow)
            + text
    }

    private static func header(_ status: String, type: String, length: Int, _ more: String = "") -> [UInt8] {
        Array(
            """
            HTTP/1.1 \(status)\r
            Content-Type: \(type)\r
            Content-Length: \(length)\r
            Connection: close\r
            \(more)\r

            """.utf8)
    }
}
