import JSON
import Testing

@testable import Varlink

@Suite struct VarlinkRequestTests {
    @Test func aCallIsReadWithItsFlags() throws {
        let request = try VarlinkRequest(["method": "a.b.C", "parameters": ["x": 1], "more": true, "oneway": false])
        #expect(request.method == "a.b.C")
        #expect(request.parameters == ["x": 1])
        #expect(request.more)
        #expect(!request.oneway)
    }

    @Test func absentAndNullMembersAreTheSame() throws {
        let request = try VarlinkRequest(["method": "a.b.C", "parameters": .null, "more": .null, "future": 1])
        #expect(request.parameters.isEmpty)
        #expect(!request.more)
    }

    @Test(
        arguments: [
            ([], "method"), ([:], "method"), (["method": 1], "method"),
            (["method": "a.b", "parameters": []], "parameters"), (["method": "a.b", "more": 1], "more"),
            (["method": "a.b", "oneway": "yes"], "oneway"), (["method": "a.b", "upgrade": true], "upgrade"),
        ] as [(JSONValue, String)])
    func aMemberOfTheWrongTypeIsNamed(message: JSONValue, parameter: String) {
        #expect(throws: VarlinkError.invalidParameter(parameter)) { try VarlinkRequest(message) }
    }
}
