import TrackModel

/// A time as databases and GeoJSON write it: `YYYY-MM-DD`, or with `HH:MM`, seconds and parts of them, and a zone. Without a
/// zone it is UTC.
struct WhereTime {
    let milliseconds: Int64
    let isDay: Bool

    init?(_ text: String) {
        var bytes = Array(text.utf8)[...]
        guard let date = Self.day(&bytes) else { return nil }
        guard !bytes.isEmpty else {
            (milliseconds, isDay) = (date * 86_400_000, true)
            return
        }
        isDay = false
        guard let separator = bytes.popFirst(), " Tt".utf8.contains(separator),
            let hour = Self.number(&bytes, digits: 2), hour < 24, bytes.popFirst() == UInt8(ascii: ":"),
            let minute = Self.number(&bytes, digits: 2), minute < 60
        else { return nil }
        var time = (hour * 60 + minute) * 60_000
        if bytes.first == UInt8(ascii: ":") {
            bytes.removeFirst()
            guard let second = Self.number(&bytes, digits: 2), second < 61 else { return nil }
            time += second * 1000
            if bytes.first == UInt8(ascii: ".") || bytes.first == UInt8(ascii: ",") {
                bytes.removeFirst()
                let digits = bytes.prefix { (0x30...0x39).contains($0) }
                guard !digits.isEmpty else { return nil }
                bytes = bytes.dropFirst(digits.count)
                var scale: Int64 = 100
                for digit in digits.prefix(3) {
                    time += Int64(digit - 0x30) * scale
                    scale /= 10
                }
            }
        }
        guard let offset = Self.offset(&bytes), bytes.isEmpty else { return nil }
        milliseconds = date * 86_400_000 + time - offset * 60_000
    }

    /// Days since 1970.
    private static func day(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
        guard let year = number(&bytes, digits: 4), bytes.popFirst() == UInt8(ascii: "-"),
            let month = number(&bytes, digits: 2), (1...12).contains(month), bytes.popFirst() == UInt8(ascii: "-"),
            let day = number(&bytes, digits: 2), (1...31).contains(day)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[Int(month) - 1] else { return nil }
        return CivilDate(year: year, month: month, day: day).daysSince1970
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>, digits: Int) -> Int64? {
        let text = bytes.prefix(digits)
        guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        bytes = bytes.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Minutes east of UTC.
    private static func offset(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
        guard let sign = bytes.popFirst() else { return 0 }
        if "Zz".utf8.contains(sign) { return 0 }
        guard "+-".utf8.contains(sign), let hours = number(&bytes, digits: 2), hours < 24 else { return nil }
        if bytes.first == UInt8(ascii: ":") { bytes.removeFirst() }
        let minutes = bytes.isEmpty ? 0 : number(&bytes, digits: 2)
        guard let minutes, minutes < 60 else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    }
}
