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

    @Test func membersComeInTheirOrderWithTheirRepetitions() throws {
        func members(_ text: String, _ rules: JSONRules = JSONRules()) throws -> [String]? {
            try JSONReader.members(of: Array(text.utf8), rules)?.map { "\($0.name)=\($0.value)" }
        }
        #expect(try members(#" { "b" : 1 , "a" : [ 2 ] , "b" : { } } "#) == ["b=1", "a=[2]", "b={}"])
        #expect(try members("{}") == [])
        #expect(try members("[1]") == nil)
        for bad in ["", "[1", "{", "{\"a\":1", "{\"a\":1,}", "{} 1", "[] 1", #"{"a":{"b":1,"b":2}}"#] {
            #expect(throws: JSONError.self, "\(bad)") { try members(bad) }
        }
        #expect(throws: JSONError.self) { try members(#"{"a":1,"b":2}"#, JSONRules(maximumValues: 2)) }
        #expect(throws: JSONError.self) { try members(#"{"a":[1]}"#, JSONRules(maximumDepth: 1)) }
    }
}
