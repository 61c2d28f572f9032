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

@Suite struct JSONRulesTests {
    private func parse(_ text: String, _ rules: JSONRules) throws -> JSONValue {
        try JSONReader.value(of: Array(text.utf8), rules)
    }

    private func code(_ text: String, _ rules: JSONRules) -> JSONError.Code? {
        do {
            _ = try parse(text, rules)
            return nil
        } catch {
            return (error as? JSONError)?.code
        }
    }

    @Test func eachLimitHoldsExactly() {
        #expect(code("[1]", JSONRules(maximumBytes: 3)) == nil)
        #expect(code("[1]", JSONRules(maximumBytes: 2)) == .tooLarge)
        #expect(code(#"[{"a":[1]}]"#, JSONRules(maximumDepth: 3)) == nil)
        #expect(code(#"[{"a":[1]}]"#, JSONRules(maximumDepth: 2)) == .tooDeep)
        #expect(code("[[],[],[[]]]", JSONRules(maximumDepth: 3)) == nil)
        #expect(code(#"{"a":[1,2]}"#, JSONRules(maximumValues: 4)) == nil)
        #expect(code(#"{"a":[1,2]}"#, JSONRules(maximumValues: 3)) == .tooManyValues)
    }

    /// A table of names costs the square of the length of one that is a letter with many accents.
    @Test func namesAndNumbersHaveBounds() {
        let name = "a" + String(repeating: "\u{301}\u{327}", count: 500_000)
        #expect(code("{\"\(name)\":1}", JSONRules()) == .tooLarge)
        #expect(code("{\"abc\":1}", JSONRules(maximumNameBytes: 3)) == nil)
        #expect(code("{\"abcd\":1}", JSONRules(maximumNameBytes: 3)) == .tooLarge)
        #expect(code(String(repeating: "1", count: 1100), JSONRules(largeIntegers: .doubles)) == .number)
        #expect(code("0." + String(repeating: "1", count: 1098), JSONRules()) == nil)
        #expect(code("0." + String(repeating: "1", count: 1099), JSONRules()) == .number)
    }

    @Test func theLastOfRepeatedMembersCountsWhenTheRulesSaySo() throws {
        let rules = JSONRules(repeatedMembers: .lastCounts)
        #expect(try parse(#"{"a":1,"b":{"c":1,"c":2},"a":3}"#, rules) == ["a": 3, "b": ["c": 2]])
    }

    @Test func anIntegerBeyond64BitsIsADoubleWhenTheRulesSaySo() throws {
        let rules = JSONRules(largeIntegers: .doubles)
        #expect(try parse("9223372036854775808", rules) == .double(9_223_372_036_854_775_808))
        #expect(try parse("-9223372036854775808", rules) == .integer(.min))
        #expect(code(String(repeating: "9", count: 400), rules) == .number)
    }

    @Test func membersAsTextsComeInTheirOrderWithTheirRepetitions() throws {
        func texts(_ text: String, _ rules: JSONRules = JSONRules()) throws -> [String]? {
            try JSONReader.texts(of: Array(text.utf8), rules, wholeDoubles: .withoutPoint)?
                .map { "\($0.name)=\($0.text ?? "nil")" }
        }
        let text =
            #" { "b" : 1.50 , "a" : [ 2.5e3, { "z" : "\u6210\/" , "y" : [ ] , "z" : true } ] , "b" : null, "c":"\n" } "#
        #expect(try texts(text) == ["b=1.5", #"a=[2500,{"z":"成/","y":[],"z":true}]"#, "b=nil", "c=\n"])
        #expect(try texts("{}") == [])
        #expect(try texts("[1]") == nil)
        for bad in [
            "", "[1", "{", "{\"a\":1", "{\"a\":1,}", "{} 1", "[] 1", #"{"a":{"b":1,}}"#, #"{"a":[1 2]}"#, "{\"a\":}",
        ] {
            #expect(throws: JSONError.self, "\(bad)") { try texts(bad) }
        }
        #expect(throws: JSONError.self) { try texts(#"{"a":1,"b":"2"}"#, JSONRules(maximumValues: 2)) }
        #expect(throws: JSONError.self) { try texts(#"{"a":[1]}"#, JSONRules(maximumDepth: 1)) }
        #expect(throws: JSONError.self) { try texts(#"{"a":[1]}"#, JSONRules(maximumValues: 2)) }
        #expect(throws: JSONError.self) { try texts(#"{"a":{"b":[]}}"#, JSONRules(maximumDepth: 2)) }
        #expect(try texts(#"{"a":{"b":[]}}"#, JSONRules(maximumDepth: 3, maximumValues: 3)) == [#"a={"b":[]}"#])
    }
}
