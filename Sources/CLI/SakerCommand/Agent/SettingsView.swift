import AgentControl
import JSON
import Terminal

/// Shows the settings of the list ``AgentSetting/all`` to a person.
enum SettingsView {
    /// The settings in one line, first those that always have a value.
    static func line(_ settings: AgentSettings) -> String {
        let always = AgentSetting.all.filter { $0.absent == nil }
        let options = AgentSetting.all.filter { $0.absent != nil }
        return (always + options).compactMap { setting in
            guard let summary = setting.summary, let value = settings.values[setting.key] else { return nil }
            return summary.split(separator: "%", omittingEmptySubsequences: false)
                .joined(separator: text(value, setting.kind))
        }.joined(separator: ", ")
    }

    static func lines(_ settings: AgentSettings) -> [String] {
        var table = TextTable.pairs
        for setting in AgentSetting.all {
            guard let text = settings.values[setting.key].map({ text($0, setting.kind) }) ?? setting.absent else {
                continue
            }
            table.add(setting.label, text)
        }
        return table.lines(width: TerminalSize.columns)
    }

    private static func text(_ value: JSONValue, _ kind: AgentSetting.Kind) -> String {
        switch kind {
        case .integer(let unit): value.integerValue.map { "\($0)\(unit.isEmpty ? "" : " ")\(unit)" } ?? "?"
        case .bytes: value.integerValue.map(Quantity.bytes) ?? "?"
        case .number(let unit): value.doubleValue.map { "\(Quantity.decimal($0, 1, trimmed: true)) \(unit)" } ?? "?"
        case .choice: value.stringValue ?? "?"
        }
    }
}
