internal import TrackModel

/// The rule of a zone for the time behind its file's list of changes: a POSIX TZ string with the extensions of RFC 9636,
/// section 3.3.1, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneRule: Hashable, Sendable {
    /// When, in each year, the time changes.
    struct Day: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            /// 1 to 365; 29 February is never counted.
            case withoutLeapDay(Int64)
            /// 0 to 365; 29 February is counted.
            case withLeapDay(Int64)
            /// Month 1 to 12, week 1 to 5 (5: the last), weekday 0 to 6 (0: Sunday).
            case weekday(month: Int64, week: Int64, day: Int64)
        }

        let kind: Kind
        /// Seconds after midnight of local time, within a week either way.
        let seconds: Int64
    }

    struct Summer: Hashable, Sendable {
        /// Seconds east of UTC.
        let offset: Int32
        let start: Day
        let end: Day
    }

    /// Seconds east of UTC.
    let offset: Int32
    let summer: Summer?

    /// The changes that happen in a year by the calendar of the zone, in the order of their times.
    func changes(in year: Int64) -> [(time: Int64, offset: Int32)] {
        guard let summer else { return [] }
        let start = (time: summer.start.time(in: year) - Int64(offset), offset: summer.offset)
        let end = (time: summer.end.time(in: year) - Int64(summer.offset), offset: offset)
        // When summer time lasts all year, its end is the next one's start: the start counts.
        return end.time <= start.time ? [end, start] : [start, end]
    }
}

extension ZoneRule.Day {
    /// Seconds since 1970 as if the local time were UTC.
    func time(in year: Int64) -> Int64 {
        let newYear = CivilDate(year: year, month: 1, day: 1).daysSince1970
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let day: Int64
        switch kind {
        case .withoutLeapDay(let number): day = newYear + number - 1 + (isLeap && number >= 60 ? 1 : 0)
        case .withLeapDay(let number): day = newYear + number
        case .weekday(let month, let week, let weekday):
            let first = CivilDate(year: year, month: month, day: 1).daysSince1970
            let next = CivilDate(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
            // 1970-01-01 was a Thursday.
            let firstWeekday = ((first + 4) % 7 + 7) % 7
            var found = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
            while found >= next.daysSince1970 { found -= 7 }
            day = found
        }
        return day * 86_400 + seconds
    }
}

// MARK: - Reading

extension ZoneRule {
    init(_ text: [UInt8]) throws(ZoneFileError) {
        var reader = ZoneRuleReader(bytes: text[...])
        try reader.name()
        offset = try reader.offset()
        guard !reader.isAtEnd else {
            summer = nil
            return
        }
        try reader.name()
        let isGiven = !reader.isAtEnd && !reader.skip(",")
        let summerOffset = isGiven ? try reader.offset() : offset + 3600
        if isGiven { try reader.expect(",") }
        // Without dates nobody knows when summer time is.
        let start = try reader.day()
        try reader.expect(",")
        let end = try reader.day()
        guard reader.isAtEnd else { throw ZoneRuleReader.wrong }
        summer = Summer(offset: summerOffset, start: start, end: end)
    }
}

/// Reads the parts of a TZ string from its front.
struct ZoneRuleReader {
    static let wrong = ZoneFileError("its last line is no rule of a time zone")

    var bytes: ArraySlice<UInt8>

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes.removeFirst()
        return true
    }

    mutating func expect(_ character: Unicode.Scalar) throws(ZoneFileError) {
        guard skip(character) else { throw Self.wrong }
    }

    /// Three or more letters, or letters, digits and signs in `<` and `>`.
    mutating func name() throws(ZoneFileError) {
        let isQuoted = skip("<")
        let length = bytes.prefix { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): isQuoted
            default: false
            }
        }.count
        guard length >= 3 else { throw Self.wrong }
        bytes.removeFirst(length)
        if isQuoted { try expect(">") }
    }

    /// Seconds east of UTC: the text counts towards the west.
    mutating func offset() throws(ZoneFileError) -> Int32 { Int32(-(try time(hours: 24))) }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    mutating func time(hours: Int64) throws(ZoneFileError) -> Int64 {
        let isNegative = skip("-")
        if !isNegative { _ = skip("+") }
        var seconds = try number(0...hours) * 3600
        if skip(":") {
            seconds += try number(0...59) * 60
            if skip(":") { seconds += try number(0...59) }
        }
        return isNegative ? -seconds : seconds
    }

    mutating func day() throws(ZoneFileError) -> ZoneRule.Day {
        let kind: ZoneRule.Day.Kind
        if skip("J") {
            kind = .withoutLeapDay(try number(1...365))
        } else if skip("M") {
            let month = try number(1...12)
            try expect(".")
            let week = try number(1...5)
            try expect(".")
            kind = .weekday(month: month, week: week, day: try number(0...6))
        } else {
            kind = .withLeapDay(try number(0...365))
        }
        return ZoneRule.Day(kind: kind, seconds: skip("/") ? try time(hours: 167) : 7200)
    }

    private mutating func number(_ range: ClosedRange<Int64>) throws(ZoneFileError) -> Int64 {
        let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...3).contains(digits.count) else { throw Self.wrong }
        bytes.removeFirst(digits.count)
        let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        guard range.contains(value) else { throw Self.wrong }
        return value
    }
}
