import AgentLogic
import ConfigurationFile
import Testing
import TrackCache
import TrackModel
import TrackTestKit

@testable import AgentRuntime

/// What a process knows at its start of the time before.
@Suite struct GapStartTests {
    private func start(_ remembered: RememberedState, autostart: Bool) throws -> GapMachine.Start {
        let text = """
            [server]
            host = "server.example"
            [service]
            id = 1
            ak = "0123456789abcdefghjkmnpqrstvwxyz"
            entity = "van"
            autostart = \(autostart)
            """
        let configuration = try AgentConfiguration.read(ConfigurationReader(text: text, path: "/etc/agent.toml"))
        let disk = DiskSimulation(seed: 1, directories: ["/var"])
        let cache = try TrackCache(directory: "/var/cache", fileSystem: disk, now: 0)
        cache.append(entity: "van", time: 5, payload: [1], now: 0)
        defer { cache.close(now: 0) }
        return GapMachine.Start(remembered, CacheSnapshot(cache), configuration.service)
    }

    @Test func theLastCommandSaysWhetherTheProcessBeforeGathered() throws {
        let target = TargetState(entity: "van", isServiceStarted: true, isGathering: false)
        let memory = GapMemory(entity: "van", since: Timestamp(milliseconds: 5), spans: [])
        let newest = Timestamp(milliseconds: 5)
        #expect(
            try start(RememberedState(target: .init(target), gap: .init(memory)), autostart: true)
                == GapMachine.Start(entity: "van", isGathering: false, memory: memory, newest: newest))
    }

    @Test func withoutACommandTheConfigurationSaysIt() throws {
        #expect(
            try start(RememberedState(), autostart: true)
                == GapMachine.Start(
                    entity: "van", isGathering: true, memory: nil, newest: Timestamp(milliseconds: 5)))
        #expect(
            try start(RememberedState(), autostart: false)
                == GapMachine.Start(entity: nil, isGathering: false, memory: nil, newest: nil))
    }
}
