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

    @Test func randomMultipartBodiesNeverCrashTheReader() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var random = SplitMix(state: seed)
        func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        let pieces = [
            "--xx", "\r\n", "--", "Content-Disposition: form-data; name=\"a\"", "\r\n\r\n", "v", " ", "\n", "name=",
        ]
        for _ in 0..<2000 {
            _ = try? multipart((0..<next(20)).map { _ in pieces[next(pieces.count)] }.joined())
        }
    }
}
