import AgentControl
import AgentLogic
import JSON
import Testing

@testable import AgentRuntime

/// What leaves the shell when a setting becomes another, and whose word goes before whose.
@Suite struct SettingsShellTests {
    private final class Setup {
        private(set) var effects: [String] = []
        private(set) lazy var shell = SettingsShell(Settings(), areSet: false) { [unowned self] effect in
            let text =
                switch effect {
                case .remember(let settings): settings == nil ? "forget" : "remember"
                case .keepAlive(let isOn): "keep alive \(isOn)"
                case .gatherInterval(let seconds): "gather \(seconds)"
                case .location: "location"
                case .intervals(let gather, let pack): "intervals \(gather) \(pack)"
                case .cacheLimit(let bytes): "limit \(bytes.map(String.init) ?? "none")"
                }
            effects.append(text)
        }

        func taken() -> [String] {
            defer { effects = [] }
            return effects
        }
    }

    @Test func aChangeIsRememberedFirstAndOnlyWhatIsAnotherIsTold() throws {
        let setup = Setup()
        try setup.shell.setIntervals(gather: 10, pack: 60)
        #expect(setup.taken() == ["remember", "gather 10", "intervals 10 60"])
        try setup.shell.setIntervals(gather: 10, pack: 30)
        #expect(setup.taken() == ["remember", "intervals 10 30"])
        try setup.shell.setCacheLimit(.unlimited)
        #expect(setup.taken() == ["remember", "intervals 10 30", "limit none"])
        try setup.shell.setLocationOptions(LocationOptionsChange(["distance_filter": 20]))
        #expect(setup.taken() == ["remember", "location", "intervals 10 30"])
    }

    @Test func aRefusedChangeChangesNothingAndNamesItsParameter() {
        let setup = Setup()
        let before = setup.shell.inForce
        let error = #expect(throws: AgentControlError.self) { try setup.shell.setIntervals(gather: 7, pack: 30) }
        #expect(error?.code == .parameterError && error?.parameter != nil)
        #expect(setup.taken() == [] && setup.shell.inForce == before)
    }

    @Test func aPersonsLimitGoesBeforeAReloadedOneUntilAReset() throws {
        let setup = Setup()
        setup.shell.cacheLimitReloaded(100 << 20)
        #expect(setup.taken() == ["intervals 5 30", "limit \(100 << 20)"])
        try setup.shell.setCacheLimit(.bytes(50 << 20))
        _ = setup.taken()
        setup.shell.cacheLimitReloaded(70 << 20)
        #expect(setup.taken() == [])
        setup.shell.reset(to: Settings())
        #expect(setup.taken().first == "forget")
        setup.shell.cacheLimitReloaded(70 << 20)
        #expect(setup.shell.inForce.cacheLimit == 70 << 20)
    }

    @Test func keepAliveIsTheConfigurations() {
        let setup = Setup()
        setup.shell.keepAliveReloaded(true)
        #expect(setup.taken() == ["keep alive true", "intervals 5 30"])
    }
}
