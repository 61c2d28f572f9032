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
