package import ArgumentParser
internal import Terminal
package import TrackFiles

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
