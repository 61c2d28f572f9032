import Testing
import Varlink

@testable import AgentControl

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
