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

/// The settings of the agent's rules and those of the control interface are the same ones.
@Suite struct SettingKeyTests {
    @Test func theInterfaceHasEverySettingThatPeopleMake() {
        // `keep_alive` comes from the configuration alone.
        #expect(
            Set(AgentSetting.all.map(\.key)) == Set(SettingKey.allCases.map(\.rawValue)).subtracting(["keep_alive"]))
    }

    @Test(arguments: AgentSetting.all) func theTypesAreTheSame(setting: AgentSetting) throws {
        let key = try #require(SettingKey(rawValue: setting.key))
        let kind: SettingKey.Kind =
            switch setting.kind {
            case .integer, .bytes: .integer
            case .number: .number
            case .choice: .text
            }
        #expect(key.kind == kind)
        #expect(key.canBeOff == (setting.absent != nil))
    }

    @Test func theInterfaceShowsWhatIsInForce() throws {
        var settings = Settings()
        try settings.change {
            $0.apply(LocationOptionsChange(["desired_accuracy": 20, "activity": "fitness", "parking_delay": 300]))
        }
        #expect(
            AgentSettings(settings).values == [
                "gather_interval": 5, "pack_interval": 30, "cache_limit": 268_435_456, "desired_accuracy": 20.0,
                "activity": "fitness", "parking_delay": 300, "parking_interval": 240,
            ])
        try settings.change { $0.apply(LocationOptionsChange(["desired_accuracy": 0, "parking_delay": 0])) }
        #expect(AgentSettings(settings).values["desired_accuracy"] == nil)
        #expect(AgentSettings(settings).values["parking_delay"] == nil)
        #expect(AgentSettings(settings).activity == .fitness)
    }
}
