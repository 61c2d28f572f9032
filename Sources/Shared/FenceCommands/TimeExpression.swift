internal import Glibc
internal import Terminal
internal import TrackFiles

/// A time in the forms that people write.
package struct TimeExpression: Hashable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64

    package static let examples =
        "'2h ago', '90 min ago', now, today, yesterday, 2026-03-05, '2026-03-05 08:20', "
        + "2026-03-05T08:20:12Z, 2026-03-05T08:20:12+08:00 or Unix seconds"

    /// Nil when the text is no time. A time without a zone is local (TZ).
    package init?(_ text: String, now: Int64) {
        let text = text.trimmed.lowercased()
        if text == "now" {
            milliseconds = now
        } else if text == "today" || text == "yesterday" {
            guard let midnight = Self.midnight(now, daysBefore: text == "today" ? 0 : 1) else { return nil }
            milliseconds = midnight
        } else if text.allSatisfy(\.isASCIIDigit) {
            // The same rule as in files: what may be several times is none. 0 is the beginning of Unix times.
            guard text != "0" else {
                milliseconds = 0
                return
            }
            guard case .instant(let instant)? = try? FileTime(text) else { return nil }
            milliseconds = instant
        } else if text.hasSuffix("ago"), let span = Self.span(text.dropLast(3)) {
            milliseconds = now &- span
        } else if let instant = Self.calendar(text) {
            milliseconds = instant
        } else {
            return nil
        }
    }

    /// `2h30m`, `90 min`, `1 d 2 h`: milliseconds, at most a thousand years.
    private static func span(_ text: Substring) -> Int64? {
        var rest = text.filter { $0 != " " }[...]
        guard !rest.isEmpty else { return nil }
        var total: Int64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix(while: \.isASCIIDigit)
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { !$0.isASCIIDigit }
            rest = rest.dropFirst(unit.count)
            guard digits.count < 12, let number = Int64(digits), let size = unitMilliseconds[String(unit)] else {
                return nil
            }
            let (product, overflow) = number.multipliedReportingOverflow(by: size)
            guard !overflow, product <= 31_556_952_000_000 - total else { return nil }
            total += product
        }
        return total
    }

    private static let unitMilliseconds: [String: Int64] = {
        let units: [(Int64, [String])] = [
            (1000, ["s", "sec", "second", "seconds"]), (60_000, ["m", "min", "minute", "minutes"]),
            (3_600_000, ["h", "hour", "hours"]), (86_400_000, ["d", "day", "days"]),
            (604_800_000, ["w", "week", "weeks"]),
        ]
        return Dictionary(uniqueKeysWithValues: units.flatMap { size, names in names.map { ($0, size) } })
    }()

    private static func midnight(_ now: Int64, daysBefore days: Int32) -> Int64? {
        var seconds = time_t(now / 1000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        parts.tm_hour = 0
        parts.tm_min = 0
        parts.tm_sec = 0
        parts.tm_mday -= days
        parts.tm_isdst = -1
        return Int64(mktime(&parts)) * 1000
    }

    /// A date, with a time of day or without one.
    private static func calendar(_ text: String) -> Int64? {
        guard let calendar = CalendarText(text) else { return nil }
        guard calendar.offset == nil else { return calendar.milliseconds(zone: 0) }
        var seconds = time_t(calendar.wall / 1000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return nil }
        parts.tm_isdst = -1
        return Int64(mktime(&parts)) * 1000 + calendar.wall % 1000
    }
}
