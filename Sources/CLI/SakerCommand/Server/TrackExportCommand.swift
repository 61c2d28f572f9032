import ArgumentParser
import FenceCommands
import Glibc
import JSON
import Terminal
import TrackFiles

extension TrackCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes an entity's points into a file.",
            discussion: """
                GPX, GeoJSON and KML for maps, CSV for tables; saker point import reads all four. Places are WGS 84, times UTC,
                speeds m/s. Points of an interruption of five minutes and more are not connected. Points stay in the order of
                their times, and the file is there as a whole or not at all.
                Times: \(TimeExpression.examples).

                Examples:
                  saker track export --from '1 day ago' --output drive.gpx
                  saker track export van_07 --from 2026-03-05 --to 2026-03-06 --format csv > day.csv
                """)

        enum Format: String, CaseIterable, ExpressibleByArgument {
            case gpx, geojson, kml, csv
        }

        @OptionGroup var range: TrackRangeOptions
        @OptionGroup var process: ProcessOptions

        @Option(
            name: .long,
            help: ArgumentHelp("gpx, geojson, kml or csv. Default: as --output ends, else gpx.", valueName: "format"))
        var format: Format?

        @Option(name: [.short, .long], help: ArgumentHelp("Write to this file.", valueName: "file"))
        var output: String?

        @Flag(
            name: .long,
            help: ArgumentHelp(
                "For programs: write texts into a table as they are, also those that a spreadsheet would compute. Else such a text gets "
                    + "an apostrophe before it."))
        var exact = false

        @Flag(
            name: .long, help: "Also write why there are no points for a while. GeoJSON alone has a place for this.")
        var gaps = false

        func validate() throws {
            guard !gaps || wanted == .geojson else {
                throw ValidationError(
                    "--gaps is for --format geojson; of other formats ask saker track gaps for the gaps")
            }
            guard !exact || wanted == .csv else {
                throw ValidationError("--exact is for --format csv: other formats are exact")
            }
            guard !range.server.json else { throw ValidationError("an export has a --format, and no --json") }
        }

        /// As the file's name ends.
        private var wanted: Format {
            if let format { return format }
            let ending = output?.split(separator: ".").last?.lowercased() ?? ""
            return ending == "json" ? .geojson : Format(rawValue: ending) ?? .gpx
        }

        func run() async throws {
            let parameters = try process.trackParameters() + (gaps ? [("gap_content", "1")] : [])
            var file = try PointwiseExportFile(output, wanted, isRemarked: process.asksForRoads, isExact: exact)
            do {
                let answer = try await range.pages(parameters, begin: { try file.begin($0) }) { page in
                    for point in page["points"]?.arrayValue ?? [] {
                        if let point = WrittenPoint(point) { try file.add(point) }
                    }
                }
                let roads = RoadsRemark(answer)
                try file.finish(
                    (answer["gaps"]?.arrayValue ?? []).compactMap(WrittenGap.init), roads.map(WrittenRoads.init))
                roads?.show(inTable: false)
            } catch {
                file.discard()
                throw error
            }
            if let output { Output.print("\(Quantity.count(file.points, "point")) in \(output.printable).") }
        }
    }
}

/// A file that grows point by point.
private struct PointwiseExportFile {
    private enum Writer {
        case table(CSVTrackWriter)
        case track(TrackFileWriter)
    }

    private let format: TrackCommand.Export.Format
    private let isExact: Bool
    private var output: OutputFile
    private var writer: Writer?
    /// What stands behind a beginning that is known only at the end.
    private let spool: SpoolFile?
    private(set) var points: Int64 = 0

    /// `isRemarked`: at the end there may be a remark about roads.
    init(_ path: String?, _ format: TrackCommand.Export.Format, isRemarked: Bool, isExact: Bool) throws {
        self.format = format
        self.isExact = isExact
        // GeoJSON has the remark behind the points.
        spool = format == .csv || (isRemarked && format != .geojson) ? try SpoolFile() : nil
        output = try OutputFile(path)
    }

    mutating func begin(_ entity: String) throws {
        let kind: TrackFileWriter.Format
        switch format {
        case .csv:
            writer = .table(CSVTrackWriter(isForPeople: !isExact))
            return
        case .gpx: kind = .gpx
        case .geojson: kind = .geojson
        case .kml: kind = .kml
        }
        let track = TrackFileWriter(kind, name: entity)
        if spool == nil { try output.write(track.begin()) }
        writer = .track(track)
    }

    mutating func add(_ point: WrittenPoint) throws {
        points += 1
        switch writer {
        case .table(var table):
            try write(table.add(point))
            writer = .table(table)
        case .track(var track):
            try write(Array(track.add(point).utf8))
            writer = .track(track)
        case nil: break
        }
    }

    private mutating func write(_ bytes: [UInt8]) throws {
        if let spool { try spool.write(bytes) } else { try output.write(bytes) }
    }

    mutating func finish(_ gaps: [WrittenGap], _ roads: WrittenRoads?) throws {
        switch writer {
        case .table(var table):
            table.roads = roads
            try output.write(table.head)
            try spool?.rewind()
            while let piece = try spool?.read() { try output.write(table.filled(piece)) }
        case .track(var track):
            if let spool {
                try output.write(track.begin(roads))
                try spool.rewind()
                while let piece = try spool.read() { try output.write(piece) }
            }
            try output.write(track.end(gaps, roads))
        case nil: break
        }
        try output.finish()
    }

    mutating func discard() { output.discard() }
}

/// A file without a name for what is read again at the end; it goes with the value.
private final class SpoolFile {
    private let file: UnsafeMutablePointer<FILE>

    init() throws {
        guard let file = tmpfile() else { throw Self.failure }
        self.file = file
    }

    deinit { fclose(file) }

    private static var failure: CommandFailure {
        CommandFailure(.failed, "the temporary file of the export: \(String(cString: strerror(errno)))")
    }

    func write(_ bytes: [UInt8]) throws {
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Self.failure }
    }

    func rewind() throws {
        guard fflush(file) == 0, fseek(file, 0, SEEK_SET) == 0 else { throw Self.failure }
    }

    /// The next piece; nil at the end.
    func read() throws -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        let count = fread(&piece, 1, piece.count, file)
        guard count > 0 || ferror(file) == 0 else { throw Self.failure }
        return count > 0 ? Array(piece[..<count]) : nil
    }
}

extension WrittenRoads {
    fileprivate init(_ remark: RoadsRemark) {
        self.init(
            text: "The track is \(remark.line).", state: remark.state, matched: remark.matched,
            attribution: remark.attribution)
    }
}

extension WrittenGap {
    /// Nil without its times.
    fileprivate init?(_ gap: JSONValue) {
        guard let start = gap["start_time"]?.integerValue, let end = gap["end_time"]?.integerValue,
            start.magnitude < 9_000_000_000_000, end.magnitude < 9_000_000_000_000
        else { return nil }
        self.init(
            from: start * 1000, until: end * 1000, reason: gap["reason"]?.stringValue ?? "other",
            detail: gap["detail"]?.stringValue, lostPoints: gap["lost_points"]?.integerValue)
    }
}

extension WrittenPoint {
    /// Nil for a point without a time or a place.
    fileprivate init?(_ point: JSONValue) {
        guard let time = point["loc_time"]?.integerValue, time.magnitude < 9_000_000_000_000,
            let latitude = point["latitude"]?.doubleValue, let longitude = point["longitude"]?.doubleValue,
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { return nil }
        self.init(
            time: time * 1000, latitude: latitude, longitude: longitude, altitude: point["height"]?.doubleValue,
            // The Web API has km/h.
            speed: point["speed"]?.doubleValue.map { $0 / 3.6 }, course: point["direction"]?.doubleValue,
            accuracy: point["radius"]?.doubleValue, objectName: point["object_name"]?.stringValue,
            attributes: Dictionary(
                // That the vehicle was parked, or whose time a point has, is no attribute of a point that somebody makes.
                TrackView.attributes(point).filter { $0.key != "parked" && $0.key != "clock_time" }
                    .compactMap { key, value in Self.kept(value).map { (key, $0) } }
            ) { first, _ in first })
    }

    /// A text that looks like a number has quotes: so an import takes it for a text again.
    private static func kept(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .integer, .double: value
        case .string(let text):
            AttributeText.value(text, type: nil) == .string(text) ? value : .string("\"\(text)\"")
        case .null, .bool, .array, .object: nil
        }
    }
}
