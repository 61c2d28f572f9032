import Testing

@testable import HTTPExchange

@Suite struct HTTPRequestTests {
    @Test(arguments: [
        ("https://fleet.example:8443", "fleet.example", 8443, "", "fleet.example:8443"),
        ("HTTPS://fleet.example/", "fleet.example", 443, "", "fleet.example"),
        ("http://[::1]:80/a/b//", "::1", 80, "/a/b", "[::1]"), ("http://127.0.0.1", "127.0.0.1", 80, "", "127.0.0.1"),
        ("https://[2001:db8::1]:7/api", "2001:db8::1", 7, "/api", "[2001:db8::1]:7"),
    ])
    func anAddressIsTakenApart(text: String, host: String, port: Int, path: String, authority: String) throws {
        let address = try HTTPAddress(text)
        #expect((address.host, address.port, address.path) == (host, port, path))
        #expect(address.authority == authority)
        #expect(try HTTPAddress(address.description) == address)
    }

    @Test(arguments: [
        "", "fleet.example", "ftp://a", "https://", "https://:443", "https://a:", "https://a:0", "https://a:65536",
        "https://a:+1", "https://u@a", "https://a/?q", "https://a/#f", "https://a b", "https://a\r\nX: 1",
        "https://[::1",
        "https://[::1]8", "https://[a]", "https://ü",
    ])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(throws: HTTPExchangeError(.address, "")) { try HTTPAddress(text) }
    }

    @Test func aRequestIsWritten() throws {
        let address = try HTTPAddress("https://a.example:8443/base/")
        let get = try HTTPRequest(.get, address, "/x?y=%20")
        #expect(
            String(decoding: get.encoded(), as: UTF8.self)
                == "GET /base/x?y=%20 HTTP/1.1\r\nHost: a.example:8443\r\nUser-Agent: saker\r\n"
                + "Accept-Encoding: identity\r\nConnection: close\r\n\r\n")
        let post = try HTTPRequest(.post, address, "/x", contentType: "a/b", body: [1, 2])
        #expect(post.encoded().suffix(42) == Array("Content-Type: a/b\r\nContent-Length: 2\r\n\r\n".utf8) + [1, 2])
    }

    @Test(arguments: ["x", "/a b", "/a\r\nX: 1", "/ü", ""])
    func nothingBreaksOutOfTheHead(target: String) throws {
        let address = HTTPAddress(host: "a", port: 1)
        #expect(throws: HTTPExchangeError(.address, "")) { try HTTPRequest(.get, address, target) }
        #expect(throws: HTTPExchangeError(.address, "")) {
            try HTTPRequest(.post, address, "/", contentType: "a\r\nX: 1")
        }
        for header in [("X", "1\r\nY: 2"), ("X: 1\r\nY", "2"), ("", "1"), ("X Y", "1"), ("X", "ü")] {
            #expect(throws: HTTPExchangeError(.address, "")) {
                try HTTPRequest(.get, address, "/", headers: [HTTPHeader(header.0, header.1)])
            }
        }
    }

    @Test func headersAndTheProgramAreInTheHead() throws {
        let request = try HTTPRequest(
            .get, HTTPAddress(host: "a", port: 443), "/", headers: [HTTPHeader("SignId", "b")], program: "p")
        #expect(
            String(decoding: request.encoded(keepsConnection: true), as: UTF8.self)
                == "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: p\r\nAccept-Encoding: identity\r\nSignId: b\r\n\r\n")
    }
}
