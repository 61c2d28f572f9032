internal import Glibc

/// Numbers for people.
package enum Quantity {
    /// `1,234,567`.
    package static func count(_ number: Int64) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }

    /// `1 point`, `1,234 points`.
    package static func count(_ number: Int64, _ noun: String, _ plural: String? = nil) -> String {
        "\(count(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    /// `512 B`, `1.5 MiB`: powers of 1024.
    package static func bytes(_ bytes: Int64) -> String {
        var value = Double(bytes)
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if abs(value) < 1024 { return unit == "B" ? "\(bytes) B" : "\(decimal(value, 1, trimmed: true)) \(unit)" }
            value /= 1024
        }
        return "\(decimal(value, 1, trimmed: true)) TiB"
    }

    /// A size as people write it: `1048576`, `256MiB`, `1.5 GB`; nil when it is none or beyond 64 bits.
    package static func parseBytes(_ text: String) -> Int64? {
        let text = text.trimmed.lowercased()
        let number = text.prefix { $0.isASCIIDigit || $0 == "." }
        let unit = text.dropFirst(number.count).drop(while: \.isWhitespace)
        guard let value = Double(number), let size = sizes[String(unit)], (value * size).rounded() < 9.2e18 else {
            return nil
        }
        return Int64((value * size).rounded())
    }

    private static let sizes: [String: Double] = [
        "": 1, "b": 1, "k": 1024, "kib": 1024, "kb": 1e3, "m": 1_048_576, "mib": 1_048_576, "mb": 1e6,
        "g": 1_073_741_824, "gib": 1_073_741_824, "gb": 1e9, "t": 1_099_511_627_776, "tib": 1_099_511_627_776,
        "tb": 1e12,
    ]

    /// Rounded to so many places; trimmed, without zeros at the end.
    package static func decimal(_ value: Double, _ places: Int, trimmed: Bool = false) -> String {
        guard value.isFinite else { return "?" }
        let factor = pow(10, Double(places))
        let scaled = (abs(value) * factor).rounded()
        // Beyond this a double holds no fraction to show.
        guard scaled < 9e15 else { return "\(value)" }
        let whole = Int64(scaled) / Int64(factor)
        let fraction = String(Int64(scaled) % Int64(factor))
        var digits = String(repeating: "0", count: max(places - fraction.count, 0)) + fraction
        if trimmed { while digits.last == "0" { digits.removeLast() } }
        let sign = value < 0 && scaled > 0 ? "-" : ""
        return sign + String(whole) + (places == 0 || digits.isEmpty ? "" : "." + digits)
    }

    /// `45.0 km/h` from metres per second.
    package static func speed(_ metresPerSecond: Double) -> String {
        decimal(metresPerSecond * 3.6, 1) + " km/h"
    }

    /// `31.228100, 121.477100`.
    package static func place(_ latitude: Double, _ longitude: Double) -> String {
        "\(decimal(latitude, 6)), \(decimal(longitude, 6))"
    }

    /// `850 m`, `15.2 km`.
    package static func distance(_ metres: Double) -> String {
        metres < 1000 ? "\(decimal(metres, 0)) m" : "\(decimal(metres / 1000, 1)) km"
    }
}

/// Spans of time for people.
package enum DurationText {
    /// `12 s ago`, `in 5 min`, `now`; of milliseconds since 1970.
    package static func relative(_ milliseconds: Int64, now: Int64) -> String {
        let (span, overflow) = now.subtractingReportingOverflow(milliseconds)
        guard !overflow else { return "long ago" }
        if span.magnitude < 1000 { return "now" }
        return span > 0 ? text(span) + " ago" : "in " + text(span == .min ? .max : -span)
    }

    /// The two largest units that matter: `450 ms`, `12 s`, `5 min 3 s`, `2 h 3 min`, `4 d 2 h`.
    package static func text(_ milliseconds: Int64) -> String {
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
}

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
