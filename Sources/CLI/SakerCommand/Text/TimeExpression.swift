import Glibc

/// A time in the forms that people write.
struct TimeExpression: Hashable {
    /// Milliseconds since 1970.
    let milliseconds: Int64

    static let examples =
        "'2h ago', '90 min ago', now, today, yesterday, 2026-03-05, '2026-03-05 08:20', "
        + "2026-03-05T08:20:12Z, 2026-03-05T08:20:12+08:00 or Unix seconds"

    /// Nil when the text is no time. A time without a zone is local (TZ).
    init?(_ text: String, now: Int64) {
        let text = text.trimmed.lowercased()
        if text == "now" {
            milliseconds = now
        } else if text == "today" || text == "yesterday" {
            guard let midnight = Self.midnight(now, daysBefore: text == "today" ? 0 : 1) else { return nil }
            milliseconds = midnight
        } else if text.allSatisfy(\.isASCIIDigit), let number = Int64(text) {
            // A year or a date without dashes was not meant in seconds.
            guard text == "0" || text.count > 8 else { return nil }
            // Seconds until the year 5138; what is larger was meant in milliseconds.
            milliseconds = number < 100_000_000_000 ? number * 1000 : number
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

    /// RFC 3339 and its shorter forms.
    private static func calendar(_ text: String) -> Int64? {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), (1...12).contains(month), (1...days(in: month, year)).contains(day)
        else { return nil }
        var parts = tm()
        parts.tm_year = Int32(year - 1900)
        parts.tm_mon = Int32(month - 1)
        parts.tm_mday = Int32(day)
        parts.tm_isdst = -1
        var fraction: Int64 = 0
        var zone: Int64?
        if !scanner.isAtEnd {
            guard scanner.skip("t") || scanner.skip(" "), let hour = scanner.number(2), scanner.skip(":"),
                let minute = scanner.number(2), hour < 24, minute < 60
            else { return nil }
            parts.tm_hour = Int32(hour)
            parts.tm_min = Int32(minute)
            if scanner.skip(":") {
                guard let second = scanner.number(2), second <= 60 else { return nil }
                parts.tm_sec = Int32(second)
                if scanner.skip(".") {
                    guard let digits = scanner.digits(), let tenths = Int64((digits + "00").prefix(3)) else {
                        return nil
                    }
                    fraction = tenths
                }
            }
            guard let found = scanner.zone() else { return nil }
            zone = found.seconds
        }
        guard scanner.isAtEnd else { return nil }
        let seconds = zone.map { Int64(timegm(&parts)) - $0 } ?? Int64(mktime(&parts))
        return seconds * 1000 + fraction
    }

    private static func days(in month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Takes digits and signs off the front of a text.
private struct DigitScanner {
    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        rest = rest.dropFirst(count)
        return Int(digits)
    }

    mutating func digits() -> String? {
        let digits = rest.prefix(while: \.isASCIIDigit)
        rest = rest.dropFirst(digits.count)
        return digits.isEmpty ? nil : String(digits)
    }

    mutating func skip(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Seconds east of Greenwich, nil inside for local; nil when what stands there is no zone.
    mutating func zone() -> (seconds: Int64?, Void)? {
        if isAtEnd { return (nil, ()) }
        if skip("z") { return (0, ()) }
        let sign: Int64
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(2) else { return nil }
        _ = skip(":")
        guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return (sign * Int64(hours * 3600 + minutes * 60), ())
    }
}

extension Character {
    var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

extension String {
    /// Without white space at its ends.
    var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
