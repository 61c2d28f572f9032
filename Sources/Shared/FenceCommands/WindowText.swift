internal import ArgumentParser
package import Geofencing
internal import Glibc
internal import JSON
internal import Terminal

/// Weekly windows as people write them: `mon-fri 08:00-18:00`, `sat,sun 22:00-06:00`, `daily 06:00-24:00`.
package enum WindowText {
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    static func window(_ text: String) throws(ValidationError) -> WeeklyWindow {
        let words = text.lowercased().split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let days = days(words[0]), let span = span(words[1]),
            let window = WeeklyWindow(days: days, from: span.from, to: span.to)
        else {
            throw ValidationError(
                "--window '\(text.shortened)' is no window: give days and a span of the day, as in 'mon-fri 08:00-18:00',"
                    + " 'sat,sun 22:00-06:00' or 'daily 06:00-24:00'")
        }
        return window
    }

    package static func text(_ window: WeeklyWindow) -> String {
        let open = days.indices.filter { window.days & 1 << $0 != 0 }
        let isRow = open.count > 2 && open == Array((open.first ?? 0)...(open.last ?? 0))
        let names =
            open.count == 7
            ? "daily"
            : isRow ? "\(days[open[0]])-\(days[open[open.count - 1]])" : open.map { days[$0] }.joined(separator: ",")
        return "\(names) \(clock(window.from))-\(clock(window.to))"
    }

    private static func clock(_ second: Int32) -> String {
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let seconds = second % 60
        return "\(two(second / 3600)):\(two(second / 60 % 60))" + (seconds == 0 ? "" : ":\(two(seconds))")
    }

    private static func days(_ text: Substring) -> UInt8? {
        if text == "daily" { return 127 }
        var set: UInt8 = 0
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map {
                days.firstIndex(of: String($0))
            }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else { return nil }
            // fri-mon goes over Sunday.
            for day in 0..<7 where first <= last ? (first...last).contains(day) : day >= first || day <= last {
                set |= 1 << UInt8(day)
            }
        }
        return set
    }

    private static func span(_ text: Substring) -> (from: Int32, to: Int32)? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(second)
        guard ends.count == 2, let from = ends[0], let to = ends[1], from < 86_400 else { return nil }
        return (from, to)
    }

    /// `08:00`, `24:00`.
    private static func second(_ text: Substring) -> Int32? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCIIDigit) }) else {
            return nil
        }
        let numbers = parts.compactMap { Int32($0) }
        let seconds = numbers.count == 3 ? numbers[2] : 0
        guard numbers[1] < 60, seconds < 60 else { return nil }
        let total = numbers[0] * 3600 + numbers[1] * 60 + seconds
        return total <= 86_400 ? total : nil
    }
}

/// The zone of weekly windows.
package enum ZoneText {
    /// `Asia/Shanghai`, `UTC`, `+08:00`.
    static func zone(_ text: String) throws(ValidationError) -> FenceZone {
        if ["utc", "z"].contains(text.lowercased()) { return .offset(0) }
        guard let sign = text.first, sign == "+" || sign == "-" else { return .named(text) }
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCIIDigit) }),
            let hours = Int32(parts[0]), let minutes = Int32(parts[1]), hours <= 24, minutes < 60
        else {
            throw ValidationError("--zone '\(text.shortened)' is no zone: give one as in Asia/Shanghai, +08:00 or UTC")
        }
        return .offset((hours * 3600 + minutes * 60) * (sign == "-" ? -1 : 1))
    }

    package static func text(_ zone: FenceZone) -> String {
        switch zone {
        case .offset(0): return "UTC"
        case .named(let name): return name
        case .offset(let seconds):
            let minutes = seconds.magnitude / 60
            func two(_ number: UInt32) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return "\(seconds < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
        }
    }

    /// The present offset of this computer's zone: the agent does not know names of zones.
    static func local() -> FenceZone {
        var seconds = time(nil)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return .offset(0) }
        return .offset(Int32(clamping: parts.tm_gmtoff))
    }
}

/// Times as options have them.
package enum TimeArgument {
    /// Milliseconds since 1970.
    static func parse(_ text: String, _ option: String, now: Int64) throws(ValidationError) -> Int64 {
        guard let time = TimeExpression(text, now: now) else {
            throw ValidationError(TerminalText.safe(refusal(of: text, option)))
        }
        return time.milliseconds
    }

    /// Why a text is refused.
    package static func refusal(of text: String, _ option: String) -> String {
        "\(option) '\(text.shortened)' is not a time: give one such as \(TimeExpression.examples)"
    }
}
