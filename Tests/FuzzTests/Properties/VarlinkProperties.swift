import JSON
import LocalSocket
import NIOCore
import NIOEmbedded
import Synchronization
import TrackTestKit

@testable import AgentControl
@testable import Varlink

/// The control socket: what any program on the box may send.
enum VarlinkProperties {
    @Sendable static func checkJSON(_ input: [UInt8]) throws {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(of: input)
        } catch {
            try require(!error.detail.isEmpty, "an error without a reason")
            try require((0...input.count).contains(error.offset), "an error outside the text")
            return
        }
        let written = value.serialized()
        // A control character grows to six bytes; a number with an exponent is written out up to 1e16.
        try require(written.count <= 16 + 8 * input.count, "the text grows without bound")
        try require(try JSONReader.value(of: written) == value, "a value changes on its way")
        do {
            _ = try VarlinkReply(value)
        } catch let error as VarlinkClientError {
            try require(!error.detail.isEmpty, "an error without a reason")
        } catch is VarlinkError {
        }
    }

    /// First byte: how many bytes arrive at a time. The rest: what a client sends.
    @Sendable static func checkRequests(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let size = Int(reader.byte())
        let steps = Self.steps(reader.pieces(of: .max))
        try require(steps == Self.steps(reader.pieces(of: size)), "messages depend on how the bytes arrived")
        let loop = EmbeddedEventLoop()
        let service = AgentControlService(handler: SampleAgent(loop: loop), policy: ControlPolicy(group: 7))
        let router = VarlinkRouter(
            service: VarlinkServiceInfo(vendor: "v", product: "p", version: "1", url: "u"), interfaces: [service])
        for case .message(let message) in steps {
            guard let value = try? JSONReader.value(of: message) else { continue }
            let answer: VarlinkAnswer
            do throws(VarlinkError) {
                let request = try VarlinkRequest(value)
                // Both who may change and who may not.
                let user: UInt32 = request.oneway ? 1000 : 0
                answer = router.answer(request, peer: PeerCredentials(user: user, group: 1, process: 1), on: loop)
            } catch {
                try checkError(error, message)
                continue
            }
            if case .reply(let future) = answer { try check(future, message, loop) }
        }
        try loop.close()
    }

    private static func check(_ future: EventLoopFuture<JSONValue>, _ message: [UInt8], _ loop: EmbeddedEventLoop)
        throws
    {
        let results = Results()
        future.whenComplete { result in results.all.withLock { $0.append(result) } }
        loop.run()
        let all = results.all.withLock { $0 }
        try require(all.count == 1, "a call without an answer")
        switch all.first {
        case .success(let reply):
            let frame = VarlinkFrame(last: reply)
            // The longest answer tells the interface itself, which grows with each method.
            try require(frame.bytes.readableBytes <= 32_768 + 8 * message.count, "the answer grows without bound")
        case .failure(let error as VarlinkError):
            try checkError(error, message)
        case .failure(let error):
            throw Violation(description: "an answer that closes the connection: \(error)")
        case nil: break
        }
    }

    private static func checkError(_ error: VarlinkError, _ message: [UInt8]) throws {
        try require(error.name.contains("."), "an error without its interface")
        try require(
            VarlinkFrame(error: error).bytes.readableBytes <= 4096 + 8 * message.count,
            "the error grows without bound")
    }

    private static func steps(_ pieces: [ArraySlice<UInt8>]) -> [MessageSplitter.Step] {
        var splitter = MessageSplitter(maximumMessageBytes: 4096)
        var steps: [MessageSplitter.Step] = []
        for piece in pieces {
            var bytes = ByteBuffer(bytes: piece)
            splitter.append(&bytes)
            while true {
                let step = splitter.next()
                if step == .incomplete { break }
                steps.append(step)
                // The connection is closed then.
                if step == .tooLarge { return steps }
            }
        }
        return steps
    }
}

/// What came of a future.
private final class Results: Sendable {
    let all = Mutex<[Result<JSONValue, any Error>]>([])
}
