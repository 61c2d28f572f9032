internal import JSON

/// The points of a file, one after the other: CSV, GPX, KML or GeoJSON, known by how it begins.
package struct TrackFileReader {
    private enum Format {
        case csv(CSVReader)
        case gpx(GPXReader)
        case geoJSON(GeoJSONReader)
    }

    private var format: Format

    /// Throws when the file cannot be opened, and for GeoJSON also for what is wrong with the whole of it.
    package init(path: String, encoding: ByteSource.Asked = .nothing) throws(TrackFileError) {
        try self.init(ByteSource(path: path, encoding: encoding))
    }

    /// As `init(path:)`, from the beginning of the source.
    package init(_ source: ByteSource) throws(TrackFileError) {
        switch try source.begin() {
        case UInt8(ascii: "<"): format = .gpx(GPXReader(source))
        case UInt8(ascii: "{"): format = .geoJSON(try GeoJSONReader(source))
        default: format = .csv(CSVReader(source))
        }
    }

    /// The route that a file holds: the track of GPX, or else its planned route; the first line of GeoJSON.
    ///
    /// Throws for a table too, and beyond `limit` points.
    package static func route(
        _ source: ByteSource, limit: Int
    ) throws(TrackFileError) -> [FilePoint] {
        var points: [FilePoint] = []
        switch try source.begin() {
        case UInt8(ascii: "<"):
            var reader = GPXReader(source)
            while let point = try reader.next() {
                if point.isMark { continue }
                points.append(try sound(point))
                guard points.count <= limit else { throw TrackFileError("more than \(limit) points") }
            }
            guard !points.isEmpty else {
                throw TrackFileError("no trkpt and no rtept in it: a route needs at least two")
            }
            let driven = points.filter { !$0.isPlanned }
            return driven.isEmpty ? points : driven
        case UInt8(ascii: "{"):
            var reader = try GeoJSONReader(source)
            guard reader.keepFirstLine() else {
                throw TrackFileError("no LineString in it: a route is a geometry of that type")
            }
            while let point = reader.next() {

                points.append(try sound(point))
                guard points.count <= limit else { throw TrackFileError("more than \(limit) points") }
            }
            return points
        default: throw TrackFileError("neither GPX (begins with <) nor GeoJSON (begins with {)")
        }
    }

    /// A route with a hole would be another way.
    private static func sound(_ point: FilePoint) throws(TrackFileError) -> FilePoint {
        if let problem = point.problem { throw TrackFileError("\(point.place): \(problem)") }
        return point
    }

    /// How the file is written, for people.
    package enum Kind: String, Hashable, Sendable {
        case csv = "CSV"
        case gpx = "GPX or KML"
        case geoJSON = "GeoJSON"
    }

    package var kind: Kind {
        switch format {
        case .csv: .csv
        case .gpx: .gpx
        case .geoJSON: .geoJSON
        }
    }

    /// What of the file is not read, for people; complete behind the last point.
    package var notes: [String] {
        switch format {
        case .csv(let reader): reader.notes
        case .gpx(let reader): reader.notes
        case .geoJSON(let reader): reader.notes
        }
    }

    /// Nil after the last. A point with a ``FilePoint/problem`` cannot be used; those behind it can.
    package mutating func next() throws(TrackFileError) -> FilePoint? {
        switch format {
        case .csv(var reader):
            defer { format = .csv(reader) }
            return try reader.next()
        case .gpx(var reader):
            defer { format = .gpx(reader) }
            return try reader.next()
        case .geoJSON(var reader):
            defer { format = .geoJSON(reader) }
            return reader.next()
        }
    }
}

/// One point of a file, as it stands there: what its texts mean is the reader's user's to say.
package struct FilePoint: Hashable, Sendable {
    /// What a file may say of a point, under the names of the control interface.
    package enum Field: String, Hashable, Sendable, CaseIterable {
        case time, latitude, longitude, speed, course, altitude, accuracy
        case objectName = "object_name"

        /// Other names, in small letters, in the order in which they count.
        private static let others: [(name: String, field: Self)] = [
            ("timestamp", .time), ("datetime", .time), ("loc_time", .time), ("date time", .time), ("date_time", .time),
            ("lat", .latitude), ("lon", .longitude), ("lng", .longitude), ("long", .longitude),
            ("heading", .course), ("bearing", .course),
            ("alt", .altitude), ("ele", .altitude), ("elevation", .altitude),
        ]

        /// The field that a column or a property of this name stands for; nil for an attribute. `rank`: of several names of one
        /// field, the one with the least counts.
        static func named(_ name: String) -> (field: Self, rank: Int)? {
            let name = name.lowercased()
            if let field = Self(rawValue: name) { return (field, 0) }
            return others.firstIndex { $0.name == name }.map { (others[$0].field, $0 + 1) }
        }
    }

    /// For people: `line 12`, or `feature 3, point 5`.
    package var place: String
    /// GPX: a point of a planned route, not of a track that was driven.
    package var isPlanned = false
    /// KML: a place that has no time, such as a pin: no place of a route.
    var isMark = false
    /// What is empty in the file is left out.
    package var fields: [Field: String] = [:]
    /// Columns and properties of other names.
    package var attributes: [String: String] = [:]
    /// The attributes of which the file says that they are texts: GeoJSON tells `"3"` from 3. Nil: the format has no types.
    package var texts: Set<String>?
    /// Why this is no point that can be used, or what of the file is lost here. Nil: nothing is known to be wrong.
    package var problem: String?

    /// The place at which a file can be read no farther, behind points that are good: a device that loses its power leaves such
    /// a file.
    static func end(_ error: TrackFileError, line: Int) -> FilePoint {
        let (place, detail) = ("line \(line)", error.description)
        let reason = detail.hasPrefix("\(place): ") ? String(detail.dropFirst(place.count + 2)) : detail
        return FilePoint(place: place, problem: "\(reason): the file is broken here, and only what is before is read")
    }

    init(place: String, problem: String? = nil) {
        self.place = place
        self.problem = problem
    }
}

/// What is wrong with a file and where; the file's name is for the caller to add.
package struct TrackFileError: Error, Hashable, CustomStringConvertible {
    /// A sentence with the place and the value.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    init(line: Int, _ detail: String) {
        description = "line \(line): \(detail)"
    }

    /// A text from outside, short enough for a message.
    static func quoted(_ text: some StringProtocol) -> String {
        text.unicodeScalars.count > 64 ? "\"\(text.prefix(64))…\"" : "\"\(text)\""
    }
}

/// Numbers in files, the same in every format: a decimal number in ASCII digits, such as `-12`, `.5` or `1.5e3`, with white
/// space around it. Every other text is none: one with a unit or a group separator, a hexadecimal one, other digits.
package enum FileNumber {
    /// Metres in which a height lies that can be. What is outside is what a writer puts where it knows none: -9999, -19999,
    /// -32768, 65535, 1e25.
    package static let heights = -5000.0...50_000.0

    /// Nil for a text that is no number, and for a number beyond a double.
    package static func value(_ text: some StringProtocol) -> Double? { Double(decimal: text.trimmedOfSpace) }

    /// Whether a text says that there is no value.
    package static func isUnknown(_ text: some StringProtocol) -> Bool {
        unknowns.contains(text.trimmedOfSpace.lowercased())
    }

    private static let unknowns: Set<String> = ["", "-", "nan", "-nan", "+nan", "null", "none", "n/a", "na"]

    /// Metres; nil for what is no height that can be.
    package static func height(_ text: some StringProtocol) -> Double? {
        value(text).flatMap { heights.contains($0) ? $0 : nil }
    }
}

extension StringProtocol {
    /// Without spaces, tabs and ends of lines around it.
    package var trimmedOfSpace: String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = utf8.drop(while: isSpace)
        let kept = start.reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(kept), as: UTF8.self)
    }
}
