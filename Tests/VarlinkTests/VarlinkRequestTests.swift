import JSON
import NIOCore
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

@Suite struct MessageSplitterTests {
    private func split(_ pieces: [[UInt8]], limit: Int = 100) -> (messages: [[UInt8]], last: MessageSplitter.Step) {
        var splitter = MessageSplitter(maximumMessageBytes: limit)
        var messages: [[UInt8]] = []
        var last = MessageSplitter.Step.incomplete
        for piece in pieces {
            var bytes = ByteBuffer(bytes: piece)
            splitter.append(&bytes)
            steps: while true {
                last = splitter.next()
                switch last {
                case .message(let message): messages.append(message)
                case .incomplete: break steps
                case .tooLarge: return (messages, last)
                }
            }
        }
        return (messages, last)
    }

    @Test func messagesAreTheSameHoweverTheBytesArrive() {
        let bytes: [UInt8] = [1, 2, 0, 0, 3, 0, 4]
        let expected: [[UInt8]] = [[1, 2], [], [3]]
        #expect(split([bytes]).messages == expected)
        #expect(split(bytes.map { [$0] }).messages == expected)
        for cut in bytes.indices {
            #expect(split([Array(bytes[..<cut]), Array(bytes[cut...])]).messages == expected)
        }
    }

    @Test func aMessageOfExactlyTheLimitPassesAndOneByteMoreDoesNot() {
        let whole = [UInt8](repeating: 7, count: 100)
        #expect(split([whole + [0]]).messages == [whole])
        #expect(split([whole + [7, 0]]).last == .tooLarge)
        #expect(split([whole, [7]]).last == .tooLarge)
        #expect(split([whole]).last == .incomplete)
    }

    @Test func storageStaysSmallUnderAnEndlessStream() {
        var splitter = MessageSplitter(maximumMessageBytes: 100)
        for _ in 0..<10_000 {
            // Never empty: each piece ends in the middle of a message.
            var bytes = ByteBuffer(bytes: [1, 2, 3, 0, 1, 2, 3])
            splitter.append(&bytes)
            while case .message = splitter.next() {}
        }
        #expect(splitter.buffer.capacity < 1024)
    }
}
