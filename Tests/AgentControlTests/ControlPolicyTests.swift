import LocalSocket
import NIOCore
import NIOPosix
import Testing
import TrackTestKit
import Varlink

@testable import AgentControl

@Suite struct ControlPolicyTests {
    private let policy = ControlPolicy(group: 500, user: 900)

    @Test(
        arguments: [
            (0, 0, [], true), (900, 900, [], true), (1000, 500, [], true), (1000, 1000, [4, 500], true),
            (1000, 1000, [4, 501], false), (500, 1000, [], false), (1000, 0, [0], false),
        ] as [(UInt32, UInt32, Set<UInt32>, Bool)])
    func rootTheAgentAndTheGroupMayChange(user: UInt32, group: UInt32, others: Set<UInt32>, may: Bool) {
        let peer = PeerCredentials(user: user, group: group, supplementaryGroups: others, process: 1)
        #expect(policy.mayChange(peer) == may)
    }

    @Test func withoutAGroupOnlyRootMayChange() {
        let policy = ControlPolicy(group: nil)
        #expect(policy.mayChange(PeerCredentials(user: 0, group: 0, process: 1)))
        #expect(!policy.mayChange(PeerCredentials(user: 1000, group: 0, process: 1)))
    }

    /// Every method, called by somebody who may not change.
    @Test(arguments: AgentMethod.allCases)
    func somebodyElseMayReadAndNotChange(method: AgentMethod) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (error, asked) = try await loop.flatSubmit {
            let agent = SampleAgent(loop: loop)
            let service = AgentControlService(handler: agent, policy: ControlPolicy(group: 500))
            let peer = PeerCredentials(user: 1000, group: 1000, supplementaryGroups: [4], process: 1)
            // Even with parameters that would be refused: who may not change learns nothing.
            let call = VarlinkCall(method: method.rawValue, peer: peer, more: true)
            switch service.answer(call, on: loop) {
            case .stream: return loop.makeSucceededFuture((nil as VarlinkError?, agent.asked.count))
            case .reply(let future):
                let count = agent.asked.count
                return future.map { _ in (nil, count) }.flatMapErrorThrowing { ($0 as? VarlinkError, count) }
            }
        }.get()
        #expect((error?.name == "io.saker.Agent.NotAuthorized") == !method.onlyReads)
        if !method.onlyReads { #expect(asked == 0) }
    }
}

@Suite struct AgentControlErrorTests {
    @Test(
        arguments: [
            (.startService, .parameterError, 2), (.startService, .internalError, 3), (.startService, .networkError, 4),
            (.startService, .authenticationError, 5), (.startService, .inProgress, 6),
            (.startService, .alreadyStarted, 7), (.stopService, .serviceNotStarted, 9), (.stopService, .inProgress, 10),
            (.startGather, .gatherAlreadyStarted, 1), (.startGather, .serviceNotStarted, 2),
            (.startGather, .locationOff, 3), (.startGather, .permissionDenied, 4), (.startGather, .internalError, 5),
            (.stopGather, .gatherNotStarted, 7), (.setIntervals, .parameterError, 1),
            (.setCacheLimit, .internalError, 1),
            (.setCacheLimit, .parameterError, 2), (.setLocationOptions, .parameterError, nil),
        ] as [(AgentMethod, AgentControlError.Code, Int64?)])
    func everyOutcomeOfTheSDKHasItsNumber(method: AgentMethod, code: AgentControlError.Code, number: Int64?) {
        #expect(AgentControlError(code, in: method, reason: "r").sdkCode == number)
    }

    @Test(arguments: AgentControlError.Code.allCases)
    func errorsTravelAndComeBack(code: AgentControlError.Code) throws {
        let error = AgentControlError(code, in: .startService, reason: "why", parameter: "entity")
        let back = try #require(AgentControlError(error.varlinkError))
        #expect(back == error)
        #expect(back.reason == "why")
        // Whoever reads the interface's description finds it there.
        #expect(AgentInterface.description.contains("\nerror \(code.rawValue) (reason: string"))
    }

    @Test func errorsOfOthersAreNotTaken() {
        #expect(AgentControlError(.methodNotFound("x")) == nil)
        #expect(AgentControlError(VarlinkError(name: "io.saker.Agent.Unheard")) == nil)
    }

    @Test(arguments: AgentMethod.allCases)
    func everyMethodIsDescribed(method: AgentMethod) {
        #expect(AgentInterface.description.contains("\nmethod \(method.rawValue)("))
    }
}
