/// A placemark of KML while it is read: its time, its places, and what it says of them.
struct KMLPlacemark {
    /// Geometries that are no point. Their places have no times of their own.
    static let shapes: Set<String> = ["LineString", "LinearRing", "Polygon", "Model"]

    private struct Shape {
        let line: Int
        let name: String
    }

    let line: Int
    private var stamp: String?
    private var begin: String?
    private var hasSpan = false
    private var points: [String] = []
    private var hasCoordinates = true
    private var others: [Shape] = []
    private var hasTrack = false
    /// Names of data that came when a track had been read without them.
    private var late: [String] = []
    private(set) var data = KMLData()

    init(line: Int) { self.line = line }

    /// Points and other geometries: all are in memory.
    var count: Int { points.count + others.count }

    mutating func set(stamp: String) { self.stamp = stamp }
    mutating func set(begin: String) { self.begin = begin }
    mutating func beginSpan() { hasSpan = true }

    mutating func beginPoint() { hasCoordinates = false }
    mutating func add(coordinates: String) {
        points.append(coordinates)
        hasCoordinates = true
    }
    mutating func endPoint() { if !hasCoordinates { add(coordinates: "") } }

    mutating func add(shape name: String, line: Int) { others.append(Shape(line: line, name: name)) }

    mutating func add(data value: String, _ name: String) {
        data.add(value, name)
        if hasTrack, !value.isEmpty { late.append(name) }
    }
    mutating func endTrack() { hasTrack = true }

    /// The points, and what is left out. `ways`: geometries without any time, by name, which are no tracks.
    func finished(counting ways: inout [String: Int]) -> [FilePoint] {
        let time = [stamp, begin].compactMap(\.self).first { !$0.isEmpty }
        var found: [FilePoint] = []
        for (index, text) in points.enumerated() {
            var point = FilePoint(place: points.count == 1 ? "line \(line)" : "line \(line), point \(index + 1)")
            point.fields[.time] = time
            KMLTrackReader.set(text, in: &point)
            data.set(in: &point)
            point.isMark = point.fields[.time] == nil
            found.append(point)
        }
        for shape in others {
            guard stamp != nil || hasSpan else {
                ways[shape.name, default: 0] += 1
                continue
            }
            var point = FilePoint(
                place: "line \(shape.line)",
                problem: "a \(shape.name) has no time for each place: it is not read, and a gx:Track is")
            point.isMark = true
            found.append(point)
        }
        if let first = late.first {
            let more = late.count > 1 ? " and \(late.count - 1) more" : ""
            found.append(
                FilePoint(
                    place: "line \(line)",
                    problem:
                        "the data \(TrackFileError.quoted(first))\(more) stand behind the track: they are not read for it"
                ))
        }
        return found
    }
}

/// What KML says of a whole placemark or track: `Data`, `SimpleData`, and the element `floor` of other programs.
struct KMLData {
    private(set) var values: [(name: String, text: String)] = []

    mutating func add(_ text: String, _ name: String) {
        if !text.isEmpty { values.append((name, text)) }
    }

    /// The names of columns are fields. A text that is no number of its field stays as an attribute.
    func set(in point: inout FilePoint) {
        let known = Set(point.attributes.keys)
        var choice = KMLFieldChoice(point)
        for (name, text) in values where !known.contains(name) {
            let named = FilePoint.Field.named(name).flatMap { Self.fits(text, $0.field) ? $0 : nil }
            choice.set(text, named, name, in: &point)
        }
    }

    private static func fits(_ text: String, _ field: FilePoint.Field) -> Bool {
        switch field {
        case .time, .objectName: true
        // The place is the geometry's to say.
        case .latitude, .longitude: false
        case .speed, .course, .altitude, .accuracy: FileNumber.value(text) != nil
        }
    }
}

/// Which of several names gives a field its value. What a point has already stays; what is no field is an attribute.
struct KMLFieldChoice {
    private let taken: Set<FilePoint.Field>
    private var best: [FilePoint.Field: (name: String, rank: Int)] = [:]

    init(_ point: FilePoint) { taken = Set(point.fields.keys) }

    mutating func set(
        _ text: String, _ named: (field: FilePoint.Field, rank: Int)?, _ name: String, in point: inout FilePoint
    ) {
        guard let (field, rank) = named, !taken.contains(field), rank < best[field]?.rank ?? .max else {
            point.attributes[name] = text
            return
        }
        if let former = best[field] { point.attributes[former.name] = point.fields[field] }
        best[field] = (name, rank)
        point.fields[field] = text
    }
}

/// The places of KML's element `coordinates`: `longitude,latitude` or `longitude,latitude,height`, with white space between
/// them. White space beside a comma does not end a place: people write `4, 52`.
package struct PlaceTuples {
    package struct Place: Hashable, Sendable {
        package let longitude: String
        package let latitude: String
        package let height: String?
    }

    /// What is no place, for people.
    package struct Failure: Error, Hashable {
        package let reason: String
    }

    /// Of a place; no three numbers are longer.
    private static let mostBytes = 512

    private var current: [UInt8] = []
    private var hasSpace = false

    package init() {}

    /// The places that the text completes. A text may come in pieces, which are cut anywhere between two characters.
    package mutating func add(_ text: String) throws(Failure) -> [Place] {
        var places: [Place] = []
        let comma = UInt8(ascii: ",")
        for byte in text.utf8 {
            if byte == 0x20 || (0x09...0x0D).contains(byte) {
                hasSpace = !current.isEmpty
                continue
            }
            if hasSpace, byte != comma, current.last != comma { places.append(try finished()) }
            hasSpace = false
            current.append(byte)
            guard current.count <= Self.mostBytes else { throw failure("is longer than any place") }
        }
        return places
    }

    /// The last place; nil when nothing is left.
    package mutating func finish() throws(Failure) -> Place? {
        current.isEmpty ? nil : try finished()
    }

    private mutating func finished() throws(Failure) -> Place {
        defer { (current, hasSpace) = ([], false) }
        let numbers = current.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard numbers.count <= 3 else {
            throw failure("has \(numbers.count) numbers: white space stands between two places, and no comma")
        }
        guard numbers.count >= 2, numbers.prefix(2).allSatisfy({ FileNumber.value($0) != nil }),
            numbers.count < 3 || FileNumber.value(numbers[2]) != nil || FileNumber.isUnknown(numbers[2])
        else { throw failure("is no place: longitude,latitude are needed, two numbers") }
        return Place(
            longitude: numbers[0], latitude: numbers[1],
            height: numbers.count == 3 && !FileNumber.isUnknown(numbers[2]) ? numbers[2] : nil)
    }

    private func failure(_ what: String) -> Failure {
        Failure(reason: "\(TrackFileError.quoted(String(decoding: current, as: UTF8.self))) \(what)")
    }

    /// The place of `gx:coord`: numbers with blanks between them, or as in `coordinates`.
    package static func single(_ text: String) throws(Failure) -> Place {
        guard !text.contains(",") else {
            var tuples = PlaceTuples()
            let before = try tuples.add(text)
            guard before.isEmpty, let place = try tuples.finish() else {
                throw Failure(reason: "\(TrackFileError.quoted(text)) is no single place")
            }
            return place
        }
        var tuples = PlaceTuples()
        tuples.current = Array(
            text.utf8.split(whereSeparator: { $0 == 0x20 || (0x09...0x0D).contains($0) })
                .joined(separator: ",".utf8))
        guard !tuples.current.isEmpty else { throw Failure(reason: "its place is empty") }
        guard let place = try tuples.finish() else { throw Failure(reason: "its place is empty") }
        return place
    }
}
