internal import JSON
internal import TrackModel

/// A value of a clause or of an attribute.
enum WhereValue: Hashable, Sendable {
    case integer(Int64)
    case real(Double)
    case text(String)
    /// Milliseconds since 1970, UTC.
    case time(Int64)

    /// Nil for NULL. A truth value is 1 or 0. A list or an object is its JSON as text.
    init?(_ attribute: JSONValue) {
        switch attribute {
        case .null: return nil
        case .bool(let flag): self = .integer(flag ? 1 : 0)
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .array, .object: self = .text(attribute.description)
        }
    }

    var kind: String {
        switch self {
        case .integer, .real: "a number"
        case .text: "a text"
        case .time: "a time"
        }
    }

    var description: String {
        switch self {
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): FenceFileError.quoted(text)
        case .time(let milliseconds): "\(milliseconds) ms"
        }
    }

    enum Order {
        case less, equal, greater
    }

    /// Nil when the two cannot be compared: a number with a text, a time with a text that is no time.
    static func order(_ left: WhereValue, _ right: WhereValue) -> Order? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): order(left, right)
        case (.real(let left), .real(let right)): order(left, right)
        case (.integer(let left), .real(let right)): order(left, right)
        case (.real(let left), .integer(let right)): reversed(order(right, left))
        case (.text(let left), .text(let right)): order(left, right)
        case (.time(let left), .time(let right)): order(left, right)
        case (.time(let left), .text(let right)): WhereTime(right).map { order(left, $0.milliseconds) }
        case (.text(let left), .time(let right)): WhereTime(left).map { order($0.milliseconds, right) }
        case (.text, .integer), (.text, .real), (.time, .integer), (.time, .real), (.integer, .text), (.real, .text),
            (.integer, .time), (.real, .time):
            nil
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Order {
        left < right ? .less : left == right ? .equal : .greater
    }

    /// Byte by byte, as a database compares.
    private static func order(_ left: String, _ right: String) -> Order {
        if left.utf8.elementsEqual(right.utf8) { return .equal }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater
    }

    /// Exact, also where a double cannot hold the whole number.
    private static func order(_ left: Int64, _ right: Double) -> Order {
        guard let whole = Int64(exactly: right.rounded(.down)) else { return right > 0 ? .less : .greater }
        if left != whole { return order(left, whole) }
        return Double(whole) < right ? .less : .equal
    }

    private static func reversed(_ order: Order) -> Order {
        switch order {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }
}

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
