import Foundation
import JSON
import ProgramTestKit
import Testing
import TrackTestKit
import Varlink

@testable import AgentControl

/// Another implementation of the protocol reads the description and calls the agent.
@Suite(.timeLimit(.minutes(5))) struct PythonClientTests {
    private static let script = #"""
        import json, sys, varlink

        with varlink.Client(address="unix:" + sys.argv[1]) as client:
            names = sorted(client.get_interfaces())
            interface = client.get_interface("io.saker.Agent")
            out = {"interfaces": names}
            out["methods"] = sorted(k for k, v in interface.members.items() if type(v).__name__ == "_Method")
            out["errors"] = sorted(k for k, v in interface.members.items() if type(v).__name__ == "_Error")
            with client.open("io.saker.Agent", namespaced=False) as agent:
                out["status"] = agent.GetStatus()["status"]
                out["settings"] = agent.SetIntervals(5, 30)["settings"]
                out["info"] = agent.GetCacheInfo(["van 07"])
                out["events"] = []
                for reply in agent.Monitor(_more=True):
                    out["events"].append(reply["event"]["kind"])
                    break
            with client.open("io.saker.Agent", namespaced=False) as agent:
                try:
                    agent.StartService("a;b")
                except varlink.VarlinkError as error:
                    out["error"] = [error.error(), error.parameters()["parameter"], error.parameters()["code"]]
        print(json.dumps(out))
        """#

    @Test(.needs(.python)) func thePythonModuleIntrospectsAndCallsTheAgent() async throws {
        let directory = try TemporaryDirectory()
        let python = directory.path + "/venv/bin/python"
        let venv = try await run("python3", ["-m", "venv", directory.path + "/venv"])
        try #require(venv.status == 0, "\(venv.output)\(venv.errors)")
        let install = try await run(python, ["-m", "pip", "install", "--quiet", "varlink"])
        try #require(install.status == 0, "\(install.output)\(install.errors)")

        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        let result = try await run(python, ["-c", Self.script, agent.path])
        try #require(result.status == 0, "\(result.output)\(result.errors)")
        let reply = try JSONReader.value(of: Array(result.output.utf8))
        #expect(reply["interfaces"] == ["io.saker.Agent", "org.varlink.service"])
        #expect(reply["methods"] == .array(AgentMethod.allCases.map(\.rawValue).sorted().map(JSONValue.string)))
        #expect(
            reply["errors"] == .array(AgentControlError.Code.allCases.map(\.rawValue).sorted().map(JSONValue.string)))
        #expect(try reply["status"]?.decoded(as: AgentStatus.self) == SampleAgent.sampleStatus)
        #expect(try reply["settings"]?.decoded(as: AgentSettings.self) == SampleAgent.sampleSettings)
        #expect(reply["info"]?["entities"]?.arrayValue?.first?["entity"] == "van 07")
        #expect(reply["events"] == ["status"])
        #expect(reply["error"] == ["io.saker.Agent.ParameterError", "entity", 2])
        #expect(
            try await agent.on { $0.agent.asked } == [.setIntervals(5, 30), .cacheInfo(["van 07"])])
        try await agent.stop()
    }
}

/// Runs a program to its end and returns what it printed; both streams go through files, so that none can fill up.
func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
    let directory = try TemporaryDirectory()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let files = ["output", "errors"].map { directory.path + "/" + $0 }
    for file in files { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files[0]))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
    try await process.runToItsEnd()
    return (
        process.terminationStatus, try String(contentsOfFile: files[0], encoding: .utf8),
        try String(contentsOfFile: files[1], encoding: .utf8)
    )
}
