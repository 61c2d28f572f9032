internal import TrackModel

/// The time of a point, from a text of a file.
package enum FileTime: Hashable, Sendable {
    /// Milliseconds since 1970.
    case instant(Int64)
    /// What a clock showed whose zone the file does not say: milliseconds since 1970 if it was a clock in UTC.
    case wall(Int64)

    /// Why a text is no time.
    package enum Failure: Error, Hashable {
        /// A number that may be several things, such as 260305082012.
        case ambiguous
        /// A date without the time of the day.
        case dayAlone
        /// Anything else.
        case noTime
        /// It is not as the given format says.
        case format
    }

    /// `format` nil: ISO 8601 and its relatives (``CalendarText``), and Unix times that can be nothing else: 9 or 10 digits are
    /// seconds, 13 are milliseconds.
    package init(_ text: some StringProtocol, _ format: FileTimeFormat? = nil) throws(Failure) {
        let text = text.trimmedOfSpace
        if let format {
            guard let time = format.time(text) else { throw .format }
            self = time
            return
        }
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        let digits = text.utf8.prefix(while: isDigit)
        let rest = text.utf8.dropFirst(digits.count)
        let isNumber = rest.isEmpty || rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy(isDigit)
        if isNumber, !digits.isEmpty {
            switch digits.count {
            case 9, 10: self = try Self.unix(text, perSecond: 1)
            case 13: self = try Self.unix(text, perSecond: 1000)
            // Eight and fewer are a date, or a number of something else.
            case ..<9: throw .noTime
            default: throw .ambiguous
            }
            return
        }
        guard let calendar = CalendarText(text) else { throw .noTime }
        guard calendar.hasClock else { throw .dayAlone }
        self = calendar.offset == nil ? .wall(calendar.wall) : .instant(calendar.milliseconds(zone: 0))
    }

    /// A Unix time in a unit of which a second has `perSecond`.
    static func unix(_ text: String, perSecond: Int64) throws(Failure) -> FileTime {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, !parts[0].hasPrefix("+"), let whole = Int64(parts[0]),
            parts.count < 2 || parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { throw .noTime }
        guard perSecond == 1 else { return .instant(whole / (perSecond / 1000)) }
        let (milliseconds, overflow) = whole.multipliedReportingOverflow(by: 1000)
        guard !overflow else { throw .noTime }
        let fraction = parts.count == 2 ? Int64((parts[1] + "000").prefix(3)) ?? 0 : 0
        let (sum, isTooFar) = milliseconds.addingReportingOverflow(parts[0].hasPrefix("-") ? -fraction : fraction)
        guard !isTooFar else { throw .noTime }
        return .instant(sum)
    }
}

/// How the times of a file are written, when a person says so.
package enum FileTimeFormat: Hashable, Sendable {
    /// A Unix time; a second has so many of them.
    case unix(perSecond: Int64)
    /// Letters for digits, as in `DD.MM.YYYY hh:mm:ss`; other characters stand for themselves.
    case pattern([Character])

    private static let units: [String: Int64] = [
        "s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000,
    ]

    /// `s`, `ms`, `us`, `ns`, or a pattern of YYYY or YY, MM, DD, hh, mm, ss and f (parts of a second), in which year, month,
    /// day, hour and minute stand once. Nil for every other text.
    package init?(_ text: String) {
        if let perSecond = Self.units[text] {
            self = .unix(perSecond: perSecond)
            return
        }
        func count(_ letter: Character) -> Int { text.count { $0 == letter } }
        guard text.utf8.count <= 64, count("Y") == 4 || count("Y") == 2,
            ["M", "D", "h", "m"].allSatisfy({ count($0) == 2 }), count("s") == 0 || count("s") == 2, count("f") <= 9
        else { return nil }
        // Letters of one kind stand side by side.
        let parts = ["YY", "MM", "DD", "hh", "mm"] + (count("s") == 2 ? ["ss"] : [])
        guard parts.allSatisfy(text.contains), count("Y") == 2 || text.contains("YYYY"),
            text.contains(String(repeating: "f", count: count("f"))) || count("f") == 0
        else { return nil }
        self = .pattern(Array(text))
    }

    /// Nil for a text that is not of this form.
    func time(_ text: String) -> FileTime? {
        switch self {
        case .unix(let perSecond): return try? FileTime.unix(text, perSecond: perSecond)
        case .pattern(let pattern):
            let characters = Array(text)
            guard characters.count == pattern.count else { return nil }
            var values: [Character: (number: Int64, digits: Int)] = [:]
            for (letter, character) in zip(pattern, characters) {
                guard "YMDhmsf".contains(letter) else {
                    guard letter == character else { return nil }
                    continue
                }
                guard let digit = character.isASCII ? character.wholeNumberValue : nil else { return nil }
                let old = values[letter] ?? (0, 0)
                values[letter] = (old.number * 10 + Int64(digit), old.digits + 1)
            }
            return Self.wall(values)
        }
    }

    private static func wall(_ values: [Character: (number: Int64, digits: Int)]) -> FileTime? {
        func two(_ letter: Character) -> String { padded(values[letter]?.number ?? 0, 2) }
        var year = values["Y"]?.number ?? 0
        // GPS began in 1980.
        if values["Y"]?.digits == 2 { year += year < 80 ? 2000 : 1900 }
        let fraction = values["f"].map { ".\(padded($0.number, $0.digits))" } ?? ""
        let text = "\(padded(year, 4))-\(two("M"))-\(two("D"))T\(two("h")):\(two("m")):\(two("s"))\(fraction)"
        return CalendarText(text).map { .wall($0.wall) }
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

/// Counts the different times of some points: of an entity's points of one time, the store keeps the one that came last.
///
/// Exact for so many times as there is room for, and for any number of times that rise.
package struct TimeTally: Hashable, Sendable {
    private var known: Set<Int64> = []
    private var latest: Int64?
    /// Points whose time was another one's already.
    package private(set) var repeated = 0
    /// False: some of the other points may have the time of another one, too.
    package private(set) var isExact = true

    package init() {}

    /// `room`: how many more times may be kept, here and by others.
    package mutating func add(_ time: Int64, room: inout Int) {
        guard time != latest, !known.contains(time) else {
            repeated += 1
            return
        }
        if room > 0 {
            known.insert(time)
            room -= 1
        } else if time < latest ?? .min {
            isExact = false
        }
        latest = max(latest ?? .min, time)
    }
}

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
