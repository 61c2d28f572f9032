import AgentControl
import JSON
import Testing

@testable import SakerCommand

/// `saker service restart`: whatever is refused, the vehicle goes on as before.
@Suite struct ServiceRestartTests {
    private static let already = ScriptedAgent.Answer.error(
        "io.saker.Agent.AlreadyStarted", ["reason": "the service runs already", "code": 7])
    private static let refused = ScriptedAgent.Answer.error(
        "io.saker.Agent.ParameterError", ["reason": "another device is van_09 already", "code": 2])
    private static let success = ScriptedAgent.Answer.reply(["outcome": "success", "code": 0])

    private func run(
        _ starts: [ScriptedAgent.Answer], _ status: AgentStatus = SampleStatus.tracked, gather: JSONValue = ["code": 0]
    ) async throws -> (result: SakerProgram.Result, asked: [String]) {
        let agent = try await ScriptedServer.start([
            "GetStatus": .reply(["status": try JSONValue(encoding: status)]), "StartService": .turns(starts),
            "StopService": .reply(["code": 8, "uploaded": 0, "remaining": 0]), "StartGather": .reply(gather),
        ])
        let result = try await agent.saker("service", "restart", "--entity", "van_09")
        let asked = try await agent.asked.map { call in
            call.method + (call.parameters["entity"]?.stringValue.map { " \($0)" } ?? "")
                + (call.parameters["keep_trying"]?.boolValue == true ? ", tried on" : "")
        }
        try await agent.stop()
        return (result, asked)
    }

    @Test func theNameIsTakenAndGatheringGoesOn() async throws {
        let (result, asked) = try await run([Self.already, Self.success])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "The service runs as van_09 and is online.\nGathering.\n")
        #expect(
            asked == [
                "GetStatus", "StartService van_09", "StopService", "StartService van_09", "StartGather, tried on",
            ])
    }

    /// The disk has what the last call left.
    @Test func whatIsNotOnTheDiskInTheEndIsToldSo() async throws {
        let soft = ScriptedAgent.Answer.reply(["outcome": "success", "code": 0, "durable": false])
        let (result, _) = try await run([Self.already, Self.success], gather: ["code": 0, "durable": false])
        #expect(result.status == 1 && result.errors.contains("not on the disk yet"))
        let (late, _) = try await run([Self.already, soft], gather: ["code": 0, "durable": true])
        #expect(late.status == 0, "\(late.errors)")
    }

    /// The agent answers at once, and its disk takes longer, as the cards of vehicles do.
    @Test(arguments: [("durable", 0), ("failing", 1)] as [(String, Int32)])
    func aCommandWaitsForASlowDisk(_ end: String, _ code: Int32) async throws {
        func status(_ state: String) -> ScriptedAgent.Answer {
            .reply(["status": ["remembered": ["state": .string(state)]]])
        }
        let agent = try await ScriptedServer.start([
            "StopGather": .reply(["code": 0, "durable": false]),
            "GetStatus": .turns([status("writing"), status("writing"), status(end)]),
        ])
        let result = try await agent.saker("gather", "stop")
        #expect(
            result.status == code && result.errors.contains("not on the disk yet") == (code == 1), "\(result.errors)")
        #expect(try await agent.asked.count == 4)
        try await agent.stop()
    }

    /// The status of the fences has a state of its own.
    @Test(arguments: [("durable", 0), ("failing", 1)] as [(String, Int32)])
    func aChangeOfFencesWaitsForASlowDisk(_ end: String, _ code: Int32) async throws {
        func status(_ state: String) -> ScriptedAgent.Answer {
            .reply([
                "status": [
                    "remembered": ["state": "durable"], "fences": ["remembered": ["state": .string(state)]],
                ]
            ])
        }
        let agent = try await ScriptedServer.start([
            "CreateFence": .reply(["fence_id": 15, "revision": 1, "code": 0, "durable": false]),
            "GetStatus": .turns([status("writing"), status("writing"), status(end)]),
        ])
        let result = try await agent.saker("fence", "add", "circle", "--at", "40,116", "--radius", "50")
        #expect(
            result.status == code && result.errors.contains("not on the disk yet") == (code == 1), "\(result.errors)")
        #expect(try await agent.asked.count == 4)
        try await agent.stop()
    }

    @Test func aNameThatTheVehicleCannotHaveStopsNothing() async throws {
        let (result, asked) = try await run([Self.refused])
        #expect(result.status == 1 && result.errors.contains("another device is van_09 already"))
        #expect(asked == ["GetStatus", "StartService van_09"])
    }

    @Test func aNameThatTheServerRefusesBringsTheFormerOneBack() async throws {
        let (result, asked) = try await run([Self.already, Self.refused, Self.success])
        #expect(result.status == 1)
        #expect(result.errors == "saker: another device is van_09 already. The service runs as 货车 07 again.\n")
        #expect(
            asked == [
                "GetStatus", "StartService van_09", "StopService", "StartService van_09", "StartService 货车 07",
                "StartGather, tried on",
            ])
    }

    /// That gathering is on is a wish: a receiver that is away for a moment does not end it.
    @Test func withoutAReceiverGatheringStaysOn() async throws {
        var status = SampleStatus.tracked
        status.feed.state = .unreachable
        let (result, asked) = try await run([Self.already, Self.success], status)
        #expect(result.status == 0, "\(result.errors)")
        #expect(asked.last == "StartGather, tried on")
    }

    @Test func aFormerNameThatCannotComeBackIsTold() async throws {
        let gone = ScriptedAgent.Answer.error(
            "io.saker.Agent.ParameterError", ["reason": "there is no memory left", "code": 2])
        let (result, asked) = try await run([Self.already, Self.refused, gone])
        #expect(result.status == 1)
        #expect(
            result.errors == """
                saker: another device is van_09 already. The service is stopped: it could not be started again as 货车 07, \
                because there is no memory left. Try: saker service start --entity '货车 07'

                """)
        #expect(asked.last == "StartService 货车 07")
    }
}
