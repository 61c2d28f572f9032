import Testing

@testable import JSON

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
