import Testing

@testable import Exposition

@Suite struct MetricsRequestTests {
    private func answer(_ text: String) -> MetricsRequest.Answer? {
        var request = MetricsRequest()
        return request.take(text.utf8)
    }

    @Test(arguments: [
        ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", MetricsRequest.Answer.page(isBodyWanted: true)),
        ("GET /metrics HTTP/1.0\n\n", .page(isBodyWanted: true)),
        ("\r\n\r\nGET /metrics?name[]=up HTTP/1.1\r\n\r\n", .page(isBodyWanted: true)),
        ("HEAD /metrics HTTP/1.1\r\nAccept: */*\r\n\r\nrest", .page(isBodyWanted: false)),
        ("POST /metrics HTTP/1.1\r\n\r\n", .refused(.method)),
        ("GET / HTTP/1.1\r\n\r\n", .refused(.elsewhere)),
        ("GET /metricss HTTP/1.1\r\n\r\n", .refused(.elsewhere)),
        ("GET /../metrics HTTP/1.1\r\n\r\n", .refused(.elsewhere)),
        ("POST / HTTP/1.1\r\n\r\n", .refused(.elsewhere)),
        ("GET /metrics HTTP/2.0\r\n\r\n", .refused(.version)),
        ("GET /metrics\r\n\r\n", .refused(.malformed)),
        ("GET  /metrics HTTP/1.1\r\n\r\n", .refused(.malformed)),
        ("GET /metrics FTP/1.1\r\n\r\n", .refused(.malformed)),
        ("GET /m\u{E9} HTTP/1.1\r\n\r\n", .refused(.malformed)),
        ("\u{16}\u{3}\u{1}\n\n", .refused(.malformed)),
    ])
    func eachRequestHasItsAnswer(text: String, expected: MetricsRequest.Answer) {
        #expect(answer(text) == expected)
    }

    @Test func itMayComeInAnyPieces() {
        let text = Array("\r\nGET /metrics HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n".utf8)
        for size in 1..<text.count {
            var request = MetricsRequest()
            var found: [MetricsRequest.Answer?] = []
            for start in stride(from: 0, to: text.count, by: size) where found.last != .page(isBodyWanted: true) {
                found.append(request.take(text[start..<min(start + size, text.count)]))
            }
            #expect(found.dropLast().allSatisfy { $0 == nil })
            #expect(found.last == .page(isBodyWanted: true), "pieces of \(size)")
        }
    }

    @Test func aRequestWithoutEndIsRefusedAtTheBound() {
        var request = MetricsRequest()
        #expect(request.take(Array(repeating: UInt8(ascii: "a"), count: MetricsRequest.maximumBytes)) == nil)
        #expect(request.take([UInt8(ascii: "a")]) == .refused(.tooLarge))
        #expect(answer(String(repeating: "\n", count: 9000)) == .refused(.tooLarge))
    }

    @Test func everyRefusalSaysWhatToDo() {
        for refusal in MetricsRequest.Refusal.allCases {
            let text = String(decoding: MetricsRequest.response(refusal), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 \(refusal.rawValue) "))
            #expect(text.contains("\r\n\r\n\(refusal.advice)\n"))
            #expect(text.contains("\r\nContent-Length: \(refusal.advice.utf8.count + 1)\r\n"))
            #expect(text.contains("Allow: GET, HEAD\r\n") == (refusal == .method))
        }
    }

    @Test func aHeadHasTheLengthAndNotThePage() {
        let page = Array("x 1\n".utf8)
        let whole = String(decoding: MetricsRequest.response(page: page, isBodyWanted: true), as: UTF8.self)
        let head = String(decoding: MetricsRequest.response(page: page, isBodyWanted: false), as: UTF8.self)
        #expect(whole == head + "x 1\n")
        #expect(head.contains("\r\nContent-Length: 4\r\n") && head.hasSuffix("\r\nConnection: close\r\n\r\n"))
    }

    // MARK: Addresses

    @Test(arguments: [
        ("127.0.0.1:9443", MetricsAddress.internet(host: "127.0.0.1", port: 9443), true),
        ("127.9.9.9:0", .internet(host: "127.9.9.9", port: 0), true),
        ("[::1]:80", .internet(host: "::1", port: 80), true),
        ("0.0.0.0:9443", .internet(host: "0.0.0.0", port: 9443), false),
        ("[fe80::1]:9443", .internet(host: "fe80::1", port: 9443), false),
        ("/run/saker/metrics.sock", .unix(path: "/run/saker/metrics.sock"), true),
    ])
    func addressesAreRead(text: String, address: MetricsAddress, isLocal: Bool) {
        #expect(MetricsAddress(text) == address)
        #expect(address.isLocal == isLocal)
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", "9443", ":9443", "localhost:9443", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1",
        "127.0.0.1:+1", "127.0.0:1", "127.0.0.256:1", "::1:80", "[::1]", "[x::1]:80", "run/x.sock", "127.0.0.1:9443 ",
        "[127.0.0.1]:80", "1e1.0.0.1:80",
    ])
    func whatIsNoAddressIsNone(text: String) {
        #expect(MetricsAddress(text) == nil)
    }
}
