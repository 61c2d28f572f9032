import Testing
import TrackTestKit

@testable import WebAPI

@Suite("Forms")
struct FormTests {
    private func pairs(_ text: String) throws -> [String] {
        try FormEncoding.pairs(text).map { "\($0.key)→\($0.value)" }
    }

    @Test func pairsAreDecoded() throws {
        #expect(
            try pairs("a=1&b=%E8%93%9D+x&c&=d&&e=f=g&h=100%&i=%zz") == [
                "a→1", "b→蓝 x", "c→", "→d", "e→f=g", "h→100%", "i→%zz",
            ])
    }

    @Test func bytesThatAreNotUTF8HaveTheirOwnStatus() {
        #expect(throws: APIFailure(.notUTF8)) { try FormEncoding.pairs("a=%FF") }
    }

    @Test func thereIsALimitOfPairs() {
        #expect(throws: APIFailure.self) { try FormEncoding.pairs(String(repeating: "a=1&", count: 5000)) }
    }

    @Test func repeatsAreJoinedAndEmptyMeansNotGiven() throws {
        var parameters = Parameters([(key: "a", value: "1"), ("a", ""), ("a", "2"), ("b", "")])
        #expect(parameters["a"] == "1,2")
        #expect(parameters["b"] == nil)
        parameters.merge(Parameters([(key: "a", value: "3")]))
        #expect(parameters["a"] == "3")
    }

    @Test func manyRepeatsAreJoinedInTheirOrder() throws {
        let values = (0..<FormEncoding.maximumPairs).map { String($0) }
        let parameters = Parameters(values.map { (key: "a", value: $0) })
        #expect(parameters["a"] == values.joined(separator: ","))
    }

    @Test func theMembersOfAJSONBodyHaveTheSameLimit() {
        func problem(_ count: Int) -> String? {
            let body = "{" + Array(repeating: #""a":"1""#, count: count).joined(separator: ",") + "}"
            let request = APIRequest(
                method: "POST", target: "/", contentType: "application/json", body: Array(body.utf8))
            do throws(APIFailure) {
                _ = try RequestForm(request, query: "")
                return nil
            } catch {
                return error.detail
            }
        }
        #expect(problem(FormEncoding.maximumPairs) == nil)
        #expect(problem(FormEncoding.maximumPairs + 1)?.contains("4096 parameters") == true)
    }

    @Test func pagesAreClamped() {
        func page(_ index: String, _ size: String) -> [Int] {
            let page = Parameters([(key: "page_index", value: index), ("page_size", size)]).page(
                defaultSize: 100, maximumSize: 1000)
            return [page.index, page.size]
        }
        #expect(page("", "") == [1, 100])
        #expect(page("0", "0") == [1, 100])
        #expect(page("-1", "x") == [1, 100])
        #expect(page("2", "5000") == [2, 1000])
        #expect(page("9999999999", "1") == [2_097_151, 1])
        #expect(page("99999999999999999999", " 7 ") == [1, 7])
    }

    // MARK: Multipart

    private func multipart(_ body: String, _ boundary: String = "xx") throws -> [String] {
        try Multipart.pairs(Array(body.utf8), boundary: boundary).map { "\($0.key)→\($0.value)" }
    }

    @Test func multipartFormsAreRead() throws {
        let body =
            "preamble\r\n--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--xx\r\n"
            + "Content-Type: text/plain; charset=utf-8\r\ncontent-disposition: form-data; name=b\r\n\r\n--x\r\n2\r\n--xx \r\n"
            + "Content-Disposition: form-data; name=\"c\"; filename=\"f\"\r\n\r\n\r\n--xx--\r\nepilogue"
        #expect(try multipart(body) == ["a→1", "b→--x\r\n2", "c→"])
    }

    @Test func boundariesMayStandInQuotes() {
        #expect(Multipart.boundary(of: "multipart/form-data; boundary=\"a b\"") == "a b")
        #expect(Multipart.boundary(of: "Multipart/Form-Data;charset=utf-8;Boundary=x1") == "x1")
        #expect(Multipart.boundary(of: "multipart/mixed; boundary=x") == nil)
        #expect(Multipart.boundary(of: "multipart/form-data") == nil)
        #expect(Multipart.boundary(of: "multipart/form-data; boundary=") == nil)
    }

    @Test func everyTruncationOfAMultipartFormIsRefused() throws {
        let body = "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--xx--"
        let bytes = Array(body.utf8)
        #expect(try Multipart.pairs(bytes, boundary: "xx").count == 1)
        for length in 0..<bytes.count {
            #expect(throws: APIFailure.self) { try Multipart.pairs(Array(bytes.prefix(length)), boundary: "xx") }
        }
        #expect(throws: APIFailure.self) { try multipart("--xx\r\n\r\n1\r\n--xx--") }
        #expect(throws: APIFailure.self) { try multipart(String(repeating: "--xx\r\n", count: 10_000)) }
    }

    /// Another reader, by splitting; nil for a body that breaks a rule. RFC 7578 with the boundary `xx`.
    private func split(_ body: String) -> [String]? {
        func pieces(_ text: String, _ separator: String) -> [String] {
            var (pieces, rest) = ([String](), Array(text.utf8)[...])
            let separator = Array(separator.utf8)
            while let start = rest.indices.first(where: { rest[$0...].starts(with: separator) }) {
                pieces.append(String(decoding: rest[..<start], as: UTF8.self))
                rest = rest[(start + separator.count)...]
            }
            return pieces + [String(decoding: rest, as: UTF8.self)]
        }
        // The first boundary may stand anywhere; each other one begins a line.
        let begun = pieces(body, "--xx")
        guard begun.count > 1 else { return nil }
        var rest = String(decoding: Array(body.utf8).dropFirst(begun[0].utf8.count + 4), as: UTF8.self)
        var found: [String] = []
        while !rest.utf8.starts(with: "--".utf8) {
            let line = Array(rest.utf8).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard line.starts(with: "\r\n".utf8) else { return nil }
            // The empty line that ends the headers may be the boundary's own end of line.
            let parts = pieces(String(decoding: line, as: UTF8.self), "\r\n\r\n")
            guard parts.count > 1 else { return nil }
            let content = parts.dropFirst().joined(separator: "\r\n\r\n")
            let ends = pieces(content, "\r\n--xx")
            guard ends.count > 1 else { return nil }
            let lines = pieces(parts[0], "\r\n").flatMap { pieces($0, "\n") }
            guard let header = lines.first(where: { $0.hasPrefix("Content-Disposition:") }) else { return nil }
            let named = header.split(separator: ";").dropFirst().map { String($0).trimmed }
            guard let name = named.first(where: { $0.hasPrefix("name=") }) else { return nil }
            let value = name.dropFirst(5)
            let text = value.hasPrefix("\"") ? String(value.dropFirst().prefix { $0 != "\"" }) : String(value)
            found.append("\(text)→\(ends[0])")
            rest = ends.dropFirst().joined(separator: "\r\n--xx")
        }
        return found
    }

    @Test func randomMultipartBodiesAreReadAsAnotherReaderReadsThem() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(state: seed)
        func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        let header = "Content-Disposition: form-data; name=\"a\""
        let pieces = ["--xx", "\r\n", "--", header, "\r\n\r\n", "v", " ", "\n", "name=", "\r\n--xx"]
        var (forms, refused) = (0, 0)
        for _ in 0..<4000 {
            // Half of them are forms, of which a piece or two is another one.
            var words = (0..<next(20)).map { _ in pieces[next(pieces.count)] }
            if next(2) == 0 {
                words =
                    (0..<next(4)).flatMap { _ in ["--xx", "\r\n", header, "\r\n\r\n", pieces[next(8)], "\r\n"] } + [
                        "--xx", "--",
                    ]
                for _ in 0..<next(3) { words[next(words.count)] = pieces[next(pieces.count)] }
            }
            let body = words.joined()
            let (read, expected) = (try? multipart(body), split(body))
            #expect(read == expected, "seed \(seed): \(body.debugDescription)")
            if expected == nil { refused += 1 } else { forms += 1 }
        }
        #expect(forms > 500 && refused > 500, "seed \(seed): \(forms) forms, \(refused) refused")
    }
}

extension String {
    /// Without blanks at both ends.
    fileprivate var trimmed: String {
        String(String(drop { $0 == " " }).reversed().drop { $0 == " " }.reversed())
    }
}
