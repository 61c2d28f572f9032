import JSON

/// Speeds are kilometres per hour in the API and centimetres per second in the store.
enum Speed {
    /// Nil when negative, not finite, or beyond what the store holds.
    static func centimetresPerSecond(_ kilometresPerHour: Double) -> Int32? {
        let value = (kilometresPerHour / 0.036).rounded()
        guard value >= 0, value <= Double(Int32.max) else { return nil }
        return Int32(value)
    }

    /// With one decimal when that gives the stored speed exactly, otherwise with two, so that the client gets the speed
    /// that it uploaded.
    static func write(centimetresPerSecond speed: Int32, to writer: inout JSONWriter) {
        let tenths = (Double(speed) * 0.36).rounded()
        if centimetresPerSecond(tenths / 10) == speed {
            writer.decimal(Int64(tenths), digits: 1)
        } else {
            writer.decimal(Int64((Double(speed) * 3.6).rounded()), digits: 2)
        }
    }
}
