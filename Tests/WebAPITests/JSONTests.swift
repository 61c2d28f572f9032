import Testing

@testable import WebAPI

private func text(_ value: JSON) -> String { String(decoding: value.bytes, as: UTF8.self) }

@Suite("JSON")
struct JSONTests {
    @Test func membersKeepTheirOrderAndTextsAreEscaped() {
        let value = JSON.object([
            JSON.Member("b", .string("\"\\\n\u{1}é成")), JSON.Member("a", .array([.null, .bool(true), .integer(-3)])),
        ])
        #expect(text(value) == "{\"b\":\"\\\"\\\\\\n\\u0001é成\",\"a\":[null,true,-3]}")
    }

    @Test(arguments: [
        (JSON.decimal(1_164_012_346, digits: 7), "116.4012346"), (.decimal(-5, digits: 1), "-0.5"),
        (.decimal(60, digits: 1), "6"), (.decimal(0, digits: 7), "0"), (.decimal(1, digits: 7), "0.0000001"),
        (.decimal(.min, digits: 0), "-9223372036854775808"), (.double(3), "3"), (.double(0.5), "0.5"),
        (.double(.infinity), "null"), (.double(.nan), "null"), (.rounded(184.20004999, digits: 4), "184.2"),
        (.rounded(-0.00001, digits: 4), "0"), (.rounded(.infinity, digits: 4), "null"),
    ])
    func numbersAreWrittenPlainly(value: JSON, expected: String) {
        #expect(text(value) == expected)
    }

    @Test(arguments: [
        ("{}", "{}"), (" [ 1 , 2.5e3 , -0 ] ", "[1,2500,0]"), ("\"\\u6210\\ud83d\\ude00\\/\"", "\"成😀/\""),
        ("{\"a\":{\"b\":[true,false,null]}}", "{\"a\":{\"b\":[true,false,null]}}"),
        ("9223372036854775807", "9223372036854775807"),
    ])
    func validTextIsRead(given: String, expected: String) throws {
        #expect(text(try JSONReader.read(Array(given.utf8))) == expected)
    }

    @Test(arguments: [
        "", "{", "[", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "1.", ".5", "-", "1e", "1e999", "NaN", "'a'", "\"a",
        "\"\\x\"", "\"\\ud800\"", "\"\\u12\"", "\"\u{1}\"", "tru", "1 2", "[1 2]",
        String(repeating: "[", count: 100_000),
        "[" + String(repeating: "0,", count: 100_001) + "0]",
    ])
    func invalidTextIsRefused(given: String) {
        #expect(throws: JSONReader.Failure.self) { try JSONReader.read(Array(given.utf8)) }
    }

    @Test func foreignBytesInAStringAreRefused() {
        #expect(throws: JSONReader.Failure.self) { try JSONReader.read([0x22, 0xFF, 0x22]) }
    }
}
