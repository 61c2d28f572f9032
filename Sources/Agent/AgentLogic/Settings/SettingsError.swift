/// A setting broke its rule. Equality is by key.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which setting.
    package let key: SettingKey
    /// The value, the rule and what to do.
    package let detail: String

    package init(_ key: SettingKey, _ detail: String) {
        self.key = key
        self.detail = detail
    }

    package var description: String { detail }

    package static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

// Rules that several settings have.
extension SettingsError {
    /// Metres; nil for off.
    static func check(
        _ metres: Double?, _ key: SettingKey, _ name: String, _ range: ClosedRange<Double>
    ) throws(SettingsError) {
        guard let metres, !range.contains(metres) else { return }
        throw SettingsError(
            key,
            "a \(name) of \(metres) m is outside \(range.lowerBound) to \(range.upperBound) m: "
                + "use a number of metres within, or turn it off")
    }

    /// Seconds.
    static func check(
        _ seconds: Int, _ key: SettingKey, _ name: String, _ range: ClosedRange<Int>, _ hint: String = ""
    ) throws(SettingsError) {
        guard !range.contains(seconds) else { return }
        throw SettingsError(
            key,
            "a \(name) of \(seconds) s is outside \(range.lowerBound) to \(range.upperBound) s: "
                + "use a whole number of seconds within\(hint)")
    }
}
