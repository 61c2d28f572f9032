import AgentControl
import AgentLogic
import JSON
import NIOCore
import NIOEmbedded
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// What a caller of `Call` and `AddPoints` is told, whatever the server and the link do.
@Suite struct RequestShellTests {
    /// A shell, and the frames that it sent.
    private final class Setup {
        let bench = ShellBench()
        private(set) var frames: [ClientFrame.OneOf_Message] = []
        private(set) var probes = 0
        private(set) lazy var shell = RequestShell(bench.context) { [unowned self] effect in
            switch effect {
            case .send(let bytes):
                guard let message = try? WireCodec.decodeClient(bytes.unframed).message else { return }
                frames.append(message)
            case .probeLink: probes += 1
            }
        }

        init(online: Bool = true) {
            if online { shell.linkChanged(.online) }
        }

        /// Whatever a test found, every request ends.
        deinit { shell.linkChanged(.closed) }

        /// The number of the last call that was sent.
        var lastCall: UInt64? {
            for case .call(let call) in frames.reversed() { return call.id }
            return nil
        }

        func answer(_ json: String, to number: UInt64, status: Int32 = 0) {
            var reply = CallReply()
            (reply.id, reply.status, reply.json) = (number, status, json)
            shell.answered(number, .call, .callReply(reply))
        }
    }

    private func points(_ count: Int) throws -> [TrackPoint] {
        let place = try #require(Coordinate(latitudeE7: 520_000_000, longitudeE7: 40_000_000))
        return (0..<count).map {
            TrackPoint(Fix(time: Timestamp(seconds: 1_780_000_000 + Int64($0)), coordinate: place))
        }
    }

    @Test func anAnswerReachesTheCallThatAskedForIt() throws {
        let setup = Setup()
        let first = setup.shell.call(path: "entity/list", parameters: ["filter": "a"])
        let one = try #require(setup.lastCall)
        let second = setup.shell.call(path: "track/gettrack", parameters: [:])
        let two = try #require(setup.lastCall)
        #expect(one != two)
        setup.answer(#"{"status":3}"#, to: two, status: 3)
        #expect(setup.bench.outcome(first) == nil)
        #expect(try setup.bench.outcome(second)?.get() == WebAPIReply(status: 3, response: ["status": 3]))
        setup.answer(#"{"status":0}"#, to: one)
        // A second answer, and one that nobody asked for, are ignored.
        setup.answer(#"{"status":9}"#, to: one)
        setup.answer(#"{"status":9}"#, to: 4711)
        #expect(try setup.bench.outcome(first)?.get().status == 0)
    }

    @Test func withoutALinkNothingIsSentAndTheReasonIsTheLinks() {
        let setup = Setup(online: false)
        #expect(setup.bench.refusal(setup.shell.call(path: "entity/list", parameters: [:])) == .serviceNotStarted)
        setup.shell.linkChanged(.waiting(until: 0, LinkTrouble(.network, "no route")))
        #expect(setup.bench.refusal(setup.shell.call(path: "entity/list", parameters: [:])) == .networkError)
        #expect(setup.frames.isEmpty)
    }

    @Test func aLinkThatBreaksBeforeTheAnswerLeavesTheOutcomeUnknown() {
        let setup = Setup()
        let call = setup.shell.call(path: "entity/add", parameters: [:])
        setup.shell.linkChanged(.waiting(until: 0, LinkTrouble(.network, "cut")))
        #expect(setup.bench.refusal(call) == .outcomeUnknown)
    }

    @Test func anAnswerThatDoesNotComeInTimeIsNotWaitedForAndTheLinkIsProbed() throws {
        let setup = Setup()
        let call = setup.shell.call(path: "entity/list", parameters: [:])
        let number = try #require(setup.lastCall)
        setup.bench.loop.advanceTime(by: .seconds(29))
        #expect(setup.bench.outcome(call) == nil)
        setup.bench.loop.advanceTime(by: .seconds(2))
        #expect(setup.bench.refusal(call) == .outcomeUnknown)
        #expect(setup.probes == 1)
        // Too late.
        setup.answer("{}", to: number)
    }

    @Test func afterTheEndNoTimerFires() {
        let setup = Setup()
        let call = setup.shell.call(path: "entity/list", parameters: [:])
        setup.shell.shutDown()
        setup.bench.loop.advanceTime(by: .hours(1))
        #expect(setup.bench.outcome(call) == nil && setup.probes == 0)
        setup.shell.linkChanged(.closed)
        #expect(setup.bench.outcome(call) != nil)
    }

    @Test func whatIsTooLargeIsRefusedBeforeItIsSent() throws {
        let setup = Setup()
        let terms = RequestShell.SessionParameters(entity: "van", limits: UplinkLimits(batchPoints: 3))
        let long = ["text": String(repeating: "x", count: 256 * 1024)]
        #expect(setup.bench.refusal(setup.shell.call(path: "entity/add", parameters: long)) == .parameterError)
        #expect(setup.bench.refusal(setup.shell.addPoints(try points(4), entity: nil, terms)) == .parameterError)
        #expect(setup.frames.isEmpty)
        _ = setup.shell.addPoints(try points(3), entity: nil, terms)
        guard case .points(let sent)? = setup.frames.first else {
            Issue.record("no points were sent")
            return
        }
        // Points without an entity are of the agent's own.
        #expect(sent.entity == "van" && sent.count == 3)
    }

    @Test func refusedPointsAreToldByTheirPlaceInTheCall() throws {
        let setup = Setup()
        let terms = RequestShell.SessionParameters(entity: "van", limits: UplinkLimits())
        let call = setup.shell.addPoints(try points(2), entity: "bus", terms)
        guard case .points(let sent)? = setup.frames.first else {
            Issue.record("no points were sent")
            return
        }
        #expect(sent.entity == "bus")
        var refused = TrackWire.RefusedPoint()
        (refused.sequence, refused.reason) = (1, "too old")
        var reply = PointsReply()
        (reply.id, reply.stored, reply.refused) = (sent.id, 1, [refused])
        setup.shell.answered(sent.id, .points, .pointsReply(reply))
        #expect(
            try setup.bench.outcome(call)?.get()
                == AddPointsReply(stored: 1, refused: [RefusedPointReply(index: 1, reason: "too old")]))
    }

    enum Answer: CaseIterable {
        case empty, cutOff, withTooManyValues, tooLong

        var json: String {
            switch self {
            case .empty: ""
            case .cutOff: "{"
            case .withTooManyValues: "[" + String(repeating: "0,", count: 70_000) + "0]"
            case .tooLong: "\"" + String(repeating: "x", count: 1 << 20) + "\""
            }
        }

        var code: AgentControlError.Code {
            switch self {
            case .empty, .cutOff: .internalError
            case .withTooManyValues, .tooLong: .parameterError
            }
        }
    }

    @Test(arguments: Answer.allCases) func anAnswerThatCannotBePassedOnIsExplained(answer: Answer) throws {
        let setup = Setup()
        let call = setup.shell.call(path: "track/gettrack", parameters: [:])
        setup.answer(answer.json, to: try #require(setup.lastCall))
        #expect(setup.bench.refusal(call) == answer.code)
    }
}

extension [UInt8] {
    /// Without the length in front of it.
    fileprivate var unframed: [UInt8] { Array(drop { $0 & 0x80 != 0 }.dropFirst()) }
}
