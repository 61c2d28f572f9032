import NIOCore
import Testing

@testable import WebListener

@Suite struct RequestLineTests {
    private func passed(_ line: inout RequestLine, _ text: String) -> String {
        String(buffer: line.escaped(ByteBuffer(string: text)))
    }

    @Test func onlyTheFirstLineIsEncoded() {
        var line = RequestLine()
        let rest = " HTTP/1.1\r\nX: 京\r\n\r\n京"
        #expect(passed(&line, "GET /a?b=京A+%41|1\(rest)") == "GET /a?b=%E4%BA%ACA+%41|1\(rest)")
        #expect(passed(&line, "京") == "京")
    }

    @Test func aLineMayComeInPieces() {
        var line = RequestLine()
        #expect(passed(&line, "\r\n\nGET /a?b=") == "\r\n\nGET /a?b=")
        #expect(String(buffer: line.escaped(ByteBuffer(bytes: [0xE4, 0xBA]))) == "%E4%BA")
        #expect(String(buffer: line.escaped(ByteBuffer(bytes: [0xAC, 0x0A, 0xC3, 0xA9]))) == "%AC\né")
    }

    @Test func theNextRequestHasALineOfItsOwn() {
        var line = RequestLine()
        #expect(passed(&line, "GET / HTTP/1.1\r\n\r\n") == "GET / HTTP/1.1\r\n\r\n")
        line.requestBegan()
        line.requestEnded()
        #expect(passed(&line, "GET /é HTTP/1.1\r\n") == "GET /%C3%A9 HTTP/1.1\r\n")
    }

    /// The end of one request and the headers of the next come together, and then the body of the next.
    @Test func aBodyIsNeverChanged() {
        var line = RequestLine()
        _ = passed(&line, "GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n")
        line.requestBegan()
        line.requestEnded()
        line.requestBegan()
        #expect(passed(&line, "京") == "京")
    }

    @Test func aBufferThatWasPartlyReadIsEncodedFromThere() {
        var line = RequestLine()
        var bytes = ByteBuffer(string: "xxGET /é HTTP/1.1\r\né")
        bytes.moveReaderIndex(forwardBy: 2)
        #expect(String(buffer: line.escaped(bytes)) == "GET /%C3%A9 HTTP/1.1\r\né")
    }
}

@Suite struct OriginFormTests {
    @Test(arguments: [
        ("/api/v3/entity/list?filter=a|%E4%BA%AC", "/api/v3/entity/list?filter=a|%E4%BA%AC"),
        ("http://yingyan.baidu.com/api/v3/entity/list?filter=a|%E4%BA%AC", "/api/v3/entity/list?filter=a|%E4%BA%AC"),
        ("HTTPS://[::1]:443/a?b=http://c/d", "/a?b=http://c/d"),
        ("http://host", "/"), ("http://host?a=/b", "/?a=/b"), ("http://", "/"),
        ("//host/a", "//host/a"), ("*", "*"), ("", ""), ("ftp://host/a", "ftp://host/a"), ("host:443", "host:443"),
    ])
    func onlyTheHostGoes(_ target: String, _ expected: String) {
        #expect(OriginForm.of(target) == expected)
    }
}
