import JSON

/// The points of the tracks of a KML file (`gx:Track`): times and places, and lists of what else they have.
struct KMLTrackReader {
    private static let maximumDepth = 64
    /// Of one track; a whole track is in memory.
    private static let maximumPoints = 200_000

    private struct Track {
        var line: Int
        var times: [String] = []
        var places: [String] = []
        var lists: [(name: String, values: [String])] = []
    }

    private var scanner: MarkupScanner
    private var open: [String] = []
    private var text = ""
    private var track: Track?
    private var points: ArraySlice<FilePoint> = []

    /// `open`: the elements that were read already.
    init(_ scanner: MarkupScanner, open: [String]) {
        (self.scanner, self.open) = (scanner, open)
    }

    mutating func next() throws(TrackFileError) -> FilePoint? {
        while points.isEmpty {
            guard let token = try scanner.next() else {
                guard open.isEmpty else {
                    throw TrackFileError(line: scanner.line, "no XML: it ends within an element")
                }
                return nil
            }
            switch token {
            case .start(let name, let attributes, let isEmpty):
                try begin(name, attributes)
                if isEmpty { try end(name) }
            case .end(let name): try end(name)
            case .text(let more): if ["when", "coord", "value"].contains(open.last) { text += more }
            }
        }
        return points.popFirst()
    }

    private mutating func begin(_ name: String, _ attributes: [String: String]) throws(TrackFileError) {
        guard open.count < Self.maximumDepth else {
            throw TrackFileError(line: scanner.line, "no XML: elements more than \(Self.maximumDepth) deep")
        }
        open.append(name)
        text = ""
        if name == "Track" { track = Track(line: scanner.line) }
        if name == "SimpleArrayData", let key = attributes["name"] { track?.lists.append((key, [])) }
    }

    private mutating func end(_ name: String) throws(TrackFileError) {
        guard open.popLast() == name else {
            throw TrackFileError(line: scanner.line, "no XML: </\(name)> ends what has not begun")
        }
        let value = text.trimmedOfSpace
        switch name {
        case "when": track?.times.append(value)
        case "coord": track?.places.append(value)
        case "value": if let last = track?.lists.indices.last { track?.lists[last].values.append(value) }
        case "Track":
            if let track { points = try Self.points(of: track)[...] }
            track = nil
        default: break
        }
        guard (track?.times.count ?? 0) <= Self.maximumPoints, (track?.places.count ?? 0) <= Self.maximumPoints,
            (track?.lists.count ?? 0) <= 256, (track?.lists.last?.values.count ?? 0) <= Self.maximumPoints
        else { throw TrackFileError(line: scanner.line, "a track of more than \(Self.maximumPoints) points") }
    }

    private static func points(of track: Track) throws(TrackFileError) -> [FilePoint] {
        guard track.times.count == track.places.count else {
            throw TrackFileError(
                line: track.line,
                "a track of \(track.times.count) times and \(track.places.count) places: each place needs one")
        }
        var points: [FilePoint] = []
        for index in track.times.indices {
            let numbers = track.places[index].split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
            guard numbers.count == 2 || numbers.count == 3, numbers.allSatisfy({ Double(decimal: $0) != nil }) else {
                throw TrackFileError(
                    line: track.line,
                    "the track's place \(index + 1) is \"\(track.places[index])\": longitude and latitude are needed")
            }
            var point = FilePoint(place: "line \(track.line), point \(index + 1)")
            point.fields = [.longitude: numbers[0], .latitude: numbers[1]]
            if numbers.count == 3 { point.fields[.altitude] = numbers[2] }
            if !track.times[index].isEmpty { point.fields[.time] = track.times[index] }
            for (name, values) in track.lists where index < values.count && !values[index].isEmpty {
                if let field = FilePoint.Field(rawValue: name) {
                    point.fields[field] = values[index]
                } else {
                    point.attributes[name] = values[index]
                }
            }
            points.append(point)
        }
        return points
    }
}
