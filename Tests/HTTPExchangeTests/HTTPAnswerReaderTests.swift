import Testing

@testable import HTTPExchange

@Suite struct HTTPAnswerReaderTests {
    /// What the reader says at the end, with the text in pieces of `size` bytes.
    private func read(
        _ text: String, size: Int = .max, limits: HTTPLimits = HTTPLimits(), ends: Bool? = nil
    ) -> HTTPAnswerReader.Action {
        var reader = HTTPAnswerReader(limits: limits)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let action = reader.received(Array(rest.prefix(size)))
            if action != .wait { return action }
            rest = rest.dropFirst(size)
        }
        return ends.map { reader.ended(isWhole: $0) } ?? .wait
    }

    private func answer(_ status: Int, _ body: String, _ headers: (String, String)...) -> HTTPAnswerReader.Action {
        .done(
            HTTPAnswer(status: status, headers: headers.map { HTTPHeader($0, $1) }, body: Array(body.utf8)))
    }

    /// Another request may follow only behind an answer whose end is known, and when the server keeps the connection.
    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", true),
            ("HTTP/1.1 204 No\r\n\r\n", true),
            (Self.chunked, true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naX", false),
            ("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\na", false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", false),
            ("HTTP/1.1 200 OK\r\n\r\na", false),
        ])
    func whoLeavesTheConnection(text: String, leaves: Bool) {
        var reader = HTTPAnswerReader()
        #expect(reader.isUntouched)
        if reader.received(Array(text.utf8)) == .wait { _ = reader.ended(isWhole: true) }
        #expect(reader.leavesConnection == leaves && !reader.isUntouched)
    }

    private static let chunked =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\nX:  a \t\r\n\r\n"
        + "3\r\nabc\r\n0A;name=value\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n"

    @Test(arguments: [1, 2, 3, 7, .max])
    func theFormsOfABodyAreRead(size: Int) {
        #expect(
            read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcMORE", size: size)
                == answer(200, "abc", ("content-length", "3")))
        #expect(
            read(Self.chunked, size: size)
                == answer(202, "abc0123456789", ("transfer-encoding", "chunked"), ("x", "a")))
        #expect(read("HTTP/1.0 200\n\nto the end", size: size, ends: true) == answer(200, "to the end"))
        #expect(read("HTTP/1.1 204 No\r\n\r\n", size: size) == answer(204, ""))
        #expect(
            read("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", size: size)
                == answer(404, "", ("content-length", "0")))
    }

    @Test func anAnswerThatEndsTooEarlyIsCutAtEveryPlace() {
        let whole = Array(Self.chunked.utf8)
        for end in 0..<whole.count {
            var reader = HTTPAnswerReader()
            #expect(reader.received(Array(whole[..<end])) == .wait)
            guard case .fail(let error) = reader.ended(isWhole: true) else {
                Issue.record("an answer of \(end) bytes")
                continue
            }
            #expect(error.code == .cut)
            // What comes later changes nothing.
            #expect(reader.received(whole) == .wait)
        }
        // Only the other side's word ends a body without a length.
        #expect(read("HTTP/1.1 200 OK\r\n\r\nhalf", ends: false) == .fail(.init(.cut, "")))
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "\u{15}\u{3}\u{1}\0\u{2}", "HTTP/2 200\r\n", "HTTP/1.1 20\r\n", "HTTP/1.1 099 x\r\n",
        "HTTP/1.1 200 OK\r\nno header\r\n", "HTTP/1.1 200 OK\r\nA: 1\r\n folded\r\n", "HTTP/1.1 200 OK\r\n: 1\r\n",
        "HTTP/1.1 200 OK\r\nA B: 1\r\n", "HTTP/1.1 200 OK\r\nA: \u{0}\r\n", "HTTP/1.1 101 Up\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
    ])
    func whatIsNoAnswerIsRefused(text: String) {
        for size in [1, Int.max] {
            #expect(read(text, size: size, ends: true) == .fail(.init(.notHTTP, "")), "\(text)")
        }
    }

    @Test func nothingGrowsOverItsLimit() {
        let limits = HTTPLimits(headBytes: 100, bodyBytes: 10)
        let tooLarge = HTTPAnswerReader.Action.fail(.init(.tooLarge, ""))
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n",
            "HTTP/1.1 200 OK\r\n\r\n0123456789a", "HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 100),
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: 1\r\n", count: 20),
            String(repeating: "HTTP/1.1 100 C\r\n\r\n", count: 7),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "x", count: 100),
        ] {
            for size in [1, Int.max] { #expect(read(text, size: size, limits: limits) == tooLarge, "\(text)") }
        }
        // Ten chunks of one byte are within both limits, however long their lines are together.
        let many = String(repeating: "1;0123456789\r\na\r\n", count: 10) + "0\r\n\r\n"
        #expect(
            read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + many, limits: limits)
                == answer(200, "aaaaaaaaaa", ("transfer-encoding", "chunked")))
    }

    @Test func anErrorNamesTheFirstBytesAndNoControlCharacter() {
        guard case .fail(let error) = read("SSH-2.0-\u{1B}[31m\n") else {
            Issue.record("read")
            return
        }
        #expect(error.detail.contains("\"SSH-2.0-.[31m\""))
    }
}
