package import ArgumentParser
package import Geofencing
internal import Glibc
internal import Terminal
internal import TimeZones
package import TrackFiles
internal import TrackModel

/// How a file of points is read.
package struct PointFileOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "How the times are written: s, ms, us or ns (Unix times), or a pattern such as YYMMDDhhmmss or 'DD.MM.YYYY hh:mm:ss'.",
            valueName: "format"))
    package var timeFormat: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The zone of times without one: utc, local, +08:00, Asia/Shanghai (default: local in CSV, else utc).",
            valueName: "zone"))
    package var timeZone: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How the file is written: utf-8, windows-1252, iso-8859-1, utf-16 (default: what the file says, else utf-8).",
            valueName: "name"))
    package var encoding: String?

    package init() {}

    package func validate() throws { _ = try rules() }

    /// As they are typed on a command line.
    package var words: [String] {
        [("--time-format", timeFormat), ("--time-zone", timeZone), ("--encoding", encoding)].flatMap { name, value in
            value.map { [name, $0] } ?? []
        }
    }

    package func rules() throws -> PointFileRules {
        var rules = PointFileRules()
        if let timeFormat {
            guard let format = FileTimeFormat(timeFormat) else {
                throw ValidationError(
                    "--time-format '\(timeFormat.shortened)' is none: give s, ms, us or ns, or a pattern of YYYY or YY, MM, DD, hh, mm,"
                        + " ss, f, as in 'DD.MM.YYYY hh:mm:ss'")
            }
            rules.format = format
        }
        rules.zone = try timeZone.map { (text) throws(ValidationError) in try FileZone(text) }
        if let encoding {
            guard let asked = ByteSource.Asked(name: encoding) else {
                throw ValidationError(
                    "--encoding '\(encoding.shortened)' is not read: give utf-8, windows-1252, iso-8859-1, utf-16, utf-16le or utf-16be"
                )
            }
            rules.encoding = asked
        }
        return rules
    }
}

package struct PointFileRules: Hashable {
    package var format: FileTimeFormat?
    package var zone: FileZone?
    package var encoding = ByteSource.Asked.nothing

    package init() {}
}

/// The zone of the times of a file that have none.
package enum FileZone: Hashable {
    case utc
    /// That of this computer (TZ).
    case local
    /// Seconds east of Greenwich.
    case offset(Int64)
    case named(String, ZoneOffsets)

    /// Why a clock's time is none, or two.
    package struct Failure: Error {
        package let reason: String
    }

    /// - Throws: `ValidationError` that names the value and what is needed.
    package init(_ text: String) throws(ValidationError) {
        switch text.lowercased() {
        case "utc", "z", "gmt": self = .utc
        case "local": self = .local
        default:
            if let calendar = CalendarText("2026-03-05T00:00\(text)"), let offset = calendar.offset {
                self = .offset(offset)
            } else if let offsets = SystemZones().offsets(text) {
                self = .named(text, offsets)
            } else {
                throw ValidationError(
                    "--time-zone '\(text.shortened)' is no zone: give one as in utc, local, +08:00 or Asia/Shanghai")
            }
        }
    }

    /// Milliseconds since 1970 of a clock in this zone that shows `wall`. A clock that is set back shows an hour twice, and one
    /// that is set forward leaves an hour out.
    package func milliseconds(_ wall: Int64) throws(Failure) -> Int64 {
        let day: Int64 = 86_400_000
        let offsets = Set([wall - day, wall, wall + day].map(offset))
        let times = offsets.map { wall - $0 * 1000 }.filter { wall - offset($0) * 1000 == $0 }
        guard let first = times.first else { throw Failure(reason: "no clock in \(text(at: wall)) showed it") }
        guard times.count == 1 else {
            throw Failure(
                reason:
                    "the clocks in \(text(at: wall)) showed it twice, when they were set back: give an offset with --time-zone"
            )
        }
        return first
    }

    /// Seconds east of Greenwich at a time.
    private func offset(_ milliseconds: Int64) -> Int64 {
        switch self {
        case .utc: return 0
        case .offset(let seconds): return seconds
        case .named(_, let offsets):
            let time = Timestamp(milliseconds: milliseconds)
            return Int64(offsets.changes.last { $0.time <= time }?.seconds ?? offsets.first)
        case .local:
            var (seconds, parts) = (time_t(milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000), tm())
            return localtime_r(&seconds, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
        }
    }

    /// For people; `wall` is a time whose offset is told for the zone of this computer.
    package func text(at wall: Int64) -> String {
        switch self {
        case .utc: "UTC"
        case .local: "the local zone (\(ZoneText.text(.offset(Int32(clamping: offset(wall))))))"
        case .offset(let seconds): ZoneText.text(.offset(Int32(clamping: seconds)))
        case .named(let name, _): name
        }
    }
}
