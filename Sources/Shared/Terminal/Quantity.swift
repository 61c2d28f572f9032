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
