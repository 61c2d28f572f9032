internal import Glibc

/// Times for people, in the zone of this computer (TZ).
package enum LocalTime {
    /// `2026-03-05 08:20:12+01:00` in the zone of TZ, from milliseconds since 1970. Options take a time in this form.
    package static func text(_ milliseconds: Int64) -> String {
        let text = format(milliseconds, "%Y-%m-%d %H:%M:%S%z")
        // `+0100`: the colon makes it the form of RFC 3339.
        guard text.dropLast(4).last.map({ "+-".contains($0) }) == true else { return text }
        return "\(text.dropLast(2)):\(text.suffix(2))"
    }

    /// `2026-03-05 08:20:12`: beside a time that names its zone.
    package static func textWithoutZone(_ milliseconds: Int64) -> String {
        format(milliseconds, "%Y-%m-%d %H:%M:%S")
    }

    /// `08:20:12`.
    package static func clock(_ milliseconds: Int64) -> String {
        format(milliseconds, "%H:%M:%S")
    }

    private static func format(_ milliseconds: Int64, _ pattern: String) -> String {
        var seconds = time_t(milliseconds.quotientDown(1000))
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "\(milliseconds) ms" }
        var text = [CChar](repeating: 0, count: 64)
        guard strftime(&text, text.count, pattern, &parts) > 0 else { return "\(milliseconds) ms" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// `2026-03-05 08:20:12+01:00 (2 h 3 min ago)`. Without the age where one of the two times is of a clock that was never set:
    /// 56 years tell nobody anything.
    package static func both(_ milliseconds: Int64, now: Int64) -> String {
        isSet(milliseconds) == isSet(now)
            ? "\(text(milliseconds)) (\(DurationText.relative(milliseconds, now: now)))" : text(milliseconds)
    }

    /// Whether a clock that says so was ever set: satellites have sent times since 1980.
    private static func isSet(_ milliseconds: Int64) -> Bool { milliseconds >= 315_532_800_000 }

    /// Milliseconds since 1970 by the system clock.
    package static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

extension Int64 {
    fileprivate func quotientDown(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
