import AgentControl
import AgentLogic
import JSON
import Testing

@testable import AgentRuntime

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
