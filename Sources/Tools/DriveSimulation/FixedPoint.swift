internal import Glibc

/// Writes decimal numbers with a fixed number of digits, the same on every machine.
enum FixedPoint {
    /// The value, rounded to `digits` digits after the point, with at least `width` digits before it (zero-padded).
    static func text(_ value: Double, digits: Int, width: Int = 1) -> String {
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int64((min(max(value, -1e9), 1e9) * Double(scale)).rounded())
        let (whole, part) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
        let sign = scaled < 0 ? "-" : ""
        let front = sign + padded(whole, to: width)
        return digits == 0 ? front : front + "." + padded(part, to: digits)
    }

    static func padded(_ value: some BinaryInteger, to width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
