import Testing

@testable import JSON

@Suite struct JSONValueTests {
    private func parse(_ text: String) throws -> JSONValue {
        try JSONReader.value(of: Array(text.utf8))
    }

    @Test func everyKindIsReadAndWrittenBackTheSame() throws {
        let text =
            #"{"a":[1,-2,0,true,false,null],"b":{"":"é\n\"\\"},"c":1.5,"d":-9223372036854775808,"e":9223372036854775807}"#
        #expect(try parse(text).serialized() == Array(text.utf8))
    }

    /// What the program itself writes has no limits but those of its parts: a page of alarms has more values than a request.
    @Test func whatIsEncodedMayBeLargerThanWhatIsReadFromOutside() throws {
        let many = [Int](repeating: 7, count: JSONRules.values * 2)
        #expect(try JSONValue(encoding: many).arrayValue?.count == many.count)
        var deep = JSONValue.integer(1)
        for _ in 0..<(JSONRules.depth + 20) { deep = .array([deep]) }
        #expect(try JSONValue(encoding: deep) == deep)
        #expect(throws: (any Error).self) { try JSONValue(encoding: [Double.infinity]) }
    }

    @Test func membersAreWrittenSortedSoThatEqualValuesAreEqualBytes() throws {
        #expect(try parse(#"{"b":1,"a":2,"aa":3}"#).description == #"{"a":2,"aa":3,"b":1}"#)
    }

    @Test(arguments: [0.1, 1e-7, 5, 1.7976931348623157e308, .leastNonzeroMagnitude, -0.0, 31.2281, 123_456_789.123])
    func aDoubleReadsBackAsTheSameDouble(value: Double) throws {
        let text = JSONValue.double(value).description
        #expect(try parse(text).doubleValue == value, "\(text)")
        #expect(try JSONValue(encoding: [value]).arrayValue?.first?.doubleValue == value)
    }

    @Test func whatJSONCannotSayIsWrittenAsNull() {
        #expect(JSONValue.double(.nan).description == "null")
        #expect(JSONValue.double(.infinity).description == "null")
    }

    @Test func controlCharactersAreEscapedSoThatNoNULEntersAMessage() throws {
        let value = JSONValue.string("\0\u{1}\u{7F}\t")
        #expect(value.description == #""\u0000\u0001\u007f\t""#)
        #expect(try parse(value.description) == value)
    }

    @Test func escapesAreRead() throws {
        #expect(try parse(#""\u00e9\ud83d\ude97\/\b\f""#) == .string("é🚗/\u{8}\u{C}"))
    }

    @Test(arguments: [
        ("", JSONError.Code.syntax), ("{", .syntax), ("[1,]", .syntax), ("{\"a\":1,}", .syntax), ("01", .syntax),
        ("1.", .syntax), ("-", .syntax), ("+1", .syntax), ("nul", .syntax), ("'a'", .syntax), ("{a:1}", .syntax),
        ("\"a", .syntax), ("\"\\x\"", .syntax), ("\"\\u12g4\"", .syntax), ("\"\n\"", .syntax), ("1 2", .syntax),
        ("NaN", .syntax), ("9223372036854775808", .number), ("1e999", .number), ("\"\\ud800\"", .encoding),
        ("\"\\ud800\\u0041\"", .encoding), ("\"\\udc00\"", .encoding), ("{\"a\":1,\"a\":2}", .duplicateKey),
        ("\"\\u+123\"", .syntax),
    ])
    func whatIsNotJSONIsRefusedWithItsReason(text: String, code: JSONError.Code) {
        let error = #expect(throws: JSONError.self) { try parse(text) }
        #expect(error?.code == code)
    }

    @Test func invalidUTF8IsRefused() {
        #expect(throws: JSONError.self) { try JSONReader.value(of: [0x22, 0xC0, 0x80, 0x22]) }
    }

    @Test func nestingAndNumberOfValuesAreBounded() throws {
        let deep = { (levels: Int) in String(repeating: "[", count: levels) + String(repeating: "]", count: levels) }
        #expect(throws: Never.self) { try parse(deep(64)) }
        #expect(throws: JSONError.self) { try parse(deep(65)) }
        #expect(throws: JSONError.self) { try parse(deep(500_000)) }
        let many = "[" + String(repeating: "0,", count: 65_536) + "0]"
        #expect(#expect(throws: JSONError.self) { try parse(many) }?.code == .tooManyValues)
    }

    @Test func aTruncatedOrBitFlippedMessageNeverCrashes() throws {
        let text = Array(#"{"method":"a.b","parameters":{"x":[1.5e3,"\ud83d\ude97é",null,true]},"more":true}"#.utf8)
        for length in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONReader.value(of: Array(text[..<length])) }
        }
        for index in text.indices {
            for bit in 0..<8 {
                var damaged = text
                damaged[index] ^= 1 << bit
                if let value = try? JSONReader.value(of: damaged) {
                    #expect(try JSONReader.value(of: value.serialized()) == value)
                }
            }
        }
    }

    @Test func typedValuesTravelThroughIt() throws {
        struct Thing: Codable, Equatable {
            var count: Int64
            var ratio: Double?
            var any: JSONValue
        }
        let thing = Thing(count: .max, ratio: nil, any: ["x": [1, 2.5, "y", .null, true]])
        let value = try JSONValue(encoding: thing)
        #expect(value["count"] == .integer(.max))
        #expect(value["ratio"] == nil)
        #expect(try value.decoded(as: Thing.self) == thing)
    }
}
