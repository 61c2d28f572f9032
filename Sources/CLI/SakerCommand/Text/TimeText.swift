import Glibc

/// Times for people: local, and how long ago.
enum TimeText {
    /// `2026-03-05 08:20:12+01:00` in the zone of TZ, from milliseconds since 1970. Options take a time in this form.
    static func local(_ milliseconds: Int64) -> String {
        let text = format(milliseconds, "%Y-%m-%d %H:%M:%S%z")
        // `+0100`: the colon makes it the form of RFC 3339.
        guard text.dropLast(4).last.map({ "+-".contains($0) }) == true else { return text }
        return "\(text.dropLast(2)):\(text.suffix(2))"
    }

    /// `08:20:12`.
    static func clock(_ milliseconds: Int64) -> String {
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

    /// `12 s ago`, `in 5 min`, `now`.
    static func relative(_ milliseconds: Int64, now: Int64) -> String {
        let (span, overflow) = now.subtractingReportingOverflow(milliseconds)
        guard !overflow else { return "long ago" }
        if span.magnitude < 1000 { return "now" }
        return span > 0 ? duration(span) + " ago" : "in " + duration(span == .min ? .max : -span)
    }

    /// The two largest units that matter: `450 ms`, `12 s`, `5 min 3 s`, `2 h 3 min`, `4 d 2 h`.
    static func duration(_ milliseconds: Int64) -> String {
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1000
        func pair(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
            "\(large) \(largeUnit)" + (small > 0 ? " \(small) \(smallUnit)" : "")
        }
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: pair(seconds / 60, "min", seconds % 60, "s")
        case ..<86_400: pair(seconds / 3600, "h", seconds % 3600 / 60, "min")
        default: pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
        }
    }

    /// `2026-03-05 08:20:12+01:00 (2 h 3 min ago)`.
    static func both(_ milliseconds: Int64, now: Int64) -> String {
        "\(local(milliseconds)) (\(relative(milliseconds, now: now)))"
    }

    /// Milliseconds since 1970 by the system clock.
    static var now: Int64 {
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
