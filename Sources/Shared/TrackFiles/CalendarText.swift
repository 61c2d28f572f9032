internal import TrackModel

/// A date, or a date with a time of day, as ISO 8601 and its relatives write it: `2026-03-05T08:20:12.5+01:00`, also with
/// blanks for the `T`, slashes in the date, a comma before the fraction, an offset `+01` or `+0100`, the words UTC and GMT, and
/// the basic form `20260305T082012Z`.
package struct CalendarText: Hashable, Sendable {
    /// Milliseconds since 1970 of a clock that shows the same in UTC. What is finer is cut off.
    package let wall: Int64
    /// Seconds east of Greenwich; nil when the text has no zone.
    package let offset: Int64?
    /// False for a date alone.
    package let hasClock: Bool

    /// Nil for every other text.
    package init?(_ text: some StringProtocol) {
        var rest = Array(text.trimmedOfSpace.utf8)[...]
        guard let date = Self.date(&rest) else { return nil }
        let midnight = date.days * 86_400_000
        guard !rest.isEmpty else {
            (wall, offset, hasClock) = (midnight, nil, false)
            return
        }
        let hasT = rest.first.map { "Tt".utf8.contains($0) } == true
        if hasT {
            rest.removeFirst()
        } else {
            let blanks = rest.prefix { $0 == 0x20 }.count
            guard blanks > 0 else { return nil }
            rest = rest.dropFirst(blanks)
        }
        guard let clock = Self.clock(&rest, isBasic: date.isBasic) else { return nil }
        rest = rest.drop { $0 == 0x20 }
        guard let zone = Self.zone(&rest), rest.isEmpty else { return nil }
        (wall, offset, hasClock) = (midnight + clock, zone.seconds, true)
    }

    /// Milliseconds since 1970; `zone` is for a text without one: seconds east of Greenwich.
    package func milliseconds(zone: Int64) -> Int64 { wall - (offset ?? zone) * 1000 }

    private static func date(_ rest: inout ArraySlice<UInt8>) -> (days: Int64, isBasic: Bool)? {
        guard let year = number(&rest, 4) else { return nil }
        let separator = rest.first.flatMap { "-/".utf8.contains($0) ? $0 : nil }
        if separator != nil { rest.removeFirst() }
        guard let month = number(&rest, 2), (1...12).contains(month) else { return nil }
        if let separator { guard rest.popFirst() == separator else { return nil } }
        guard let day = number(&rest, 2), day >= 1, day <= days(in: month, year) else { return nil }
        return (CivilDate(year: year, month: month, day: day).daysSince1970, separator == nil)
    }

    static func days(in month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Milliseconds of the day. 24:00 is the end of it, and a second 60 a leap second.
    private static func clock(_ rest: inout ArraySlice<UInt8>, isBasic: Bool) -> Int64? {
        guard let hour = number(&rest, 2), hour <= 24 else { return nil }
        let hasColon = rest.first == UInt8(ascii: ":")
        guard hasColon || isBasic else { return nil }
        if hasColon { rest.removeFirst() }
        guard let minute = number(&rest, 2), minute < 60 else { return nil }
        var (second, fraction): (Int64, Int64) = (0, 0)
        let hasSeconds = hasColon ? rest.first == UInt8(ascii: ":") : rest.first.map(isDigit) == true
        if hasSeconds {
            if hasColon { rest.removeFirst() }
            guard let found = number(&rest, 2), found <= 60 else { return nil }
            second = found
            if let sign = rest.first, ".,".utf8.contains(sign) {
                rest.removeFirst()
                let digits = rest.prefix(while: isDigit)
                guard !digits.isEmpty else { return nil }
                rest = rest.dropFirst(digits.count)
                for place in 0..<3 {
                    fraction = fraction * 10
                    if place < digits.count { fraction += Int64(digits[digits.startIndex + place] - 0x30) }
                }
            }
        }
        guard hour < 24 || minute == 0 && second == 0 && fraction == 0 else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1000 + fraction
    }

    /// `seconds` is nil for no zone; nil when what stands there is none.
    private static func zone(_ rest: inout ArraySlice<UInt8>) -> (seconds: Int64?, Void)? {
        guard let first = rest.first else { return (nil, ()) }
        for name in ["z", "utc", "gmt"] where String(decoding: rest, as: UTF8.self).lowercased() == name {
            rest = []
            return (0, ())
        }
        guard "+-".utf8.contains(first) else { return nil }
        rest.removeFirst()
        guard let hours = number(&rest, 2), hours < 24 else { return nil }
        var minutes: Int64 = 0
        if !rest.isEmpty {
            if rest.first == UInt8(ascii: ":") { rest.removeFirst() }
            guard let found = number(&rest, 2), found < 60 else { return nil }
            minutes = found
        }
        return ((first == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60), ())
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
