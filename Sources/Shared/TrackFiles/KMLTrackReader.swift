/// The points of a KML file: those of its tracks (`gx:Track`), which are times, places, and lists of what else they have; and
/// placemarks that are one point with a `TimeStamp`.
struct KMLTrackReader {
    private static let maximumDepth = 64
    /// Of one track; a whole track is in memory.
    private static let maximumPoints = 200_000
    private static let maximumLists = 256
    private static let texts: Set<String> = ["when", "coord", "value", "coordinates"]

    private struct Track {
        var line: Int
        var times: [String] = []
        var places: [String] = []
        var lists: [(name: String, values: [String])] = []
        private var hasTimesFirst = true
        private var alternates = true

        init(line: Int) { self.line = line }

        /// No time or place was left out among those that were read: either all times stand first, or each before its place.
        var isInOrder: Bool { hasTimesFirst || alternates }

        mutating func add(time: String) {
            if !places.isEmpty { hasTimesFirst = false }
            if times.count != places.count { alternates = false }
            times.append(time)
        }

        mutating func add(place: String) {
            if times.count != places.count + 1 { alternates = false }
            places.append(place)
        }
    }

    private struct Placemark {
        var line: Int
        var time: String?
        var coordinates: String?
        var hasTrack = false
    }

    private var scanner: MarkupScanner
    private var open: [String] = []
    private var text = ""
    private var track: Track?
    private var placemark: Placemark?
    private var points: ArraySlice<FilePoint> = []
    private var lines = 0
    private var hasPoint = false
    private var isBroken = false

    /// `open`: the elements that were read already.
    init(_ scanner: MarkupScanner, open: [String]) {
        (self.scanner, self.open) = (scanner, open)
    }

    /// For people: what of the file is not read.
    var notes: [String] {
        let what = lines == 1 ? "1 line is" : "\(lines) lines are"
        return lines == 0 ? [] : ["\(what) not read: a LineString has no times, a gx:Track has"]
    }

    mutating func next() throws(TrackFileError) -> FilePoint? {
        if isBroken { return points.popFirst() }
        do throws(TrackFileError) {
            let point = try following()
            hasPoint = hasPoint || point != nil
            return point
        } catch {
            // The first ones of both belong together when all times stand before the places, or each before its own.
            if var track {
                if !track.isInOrder {
                    let problem =
                        "times and places do not follow each other, and the file breaks off: none of the track is read"
                    points.append(FilePoint(place: "line \(track.line)", problem: problem))
                } else {
                    let count = min(track.times.count, track.places.count)
                    track.times.removeLast(track.times.count - count)
                    track.places.removeLast(track.places.count - count)
                    track.lists = track.lists.filter { $0.values.count >= count }.map {
                        (name: $0.name, values: Array($0.values.prefix(count)))
                    }
                    points.append(contentsOf: Self.points(of: track))
                }
            }
            guard hasPoint || points.contains(where: { $0.problem == nil }) else { throw error }
            isBroken = true
            points.append(.end(error, line: scanner.line))
            return points.popFirst()
        }
    }

    private mutating func following() throws(TrackFileError) -> FilePoint? {
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
            case .text(let more): if let last = open.last, Self.texts.contains(last) { text += more }
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
        switch name {
        case "Placemark": placemark = Placemark(line: scanner.line)
        case "Track":
            track = Track(line: scanner.line)
            placemark?.hasTrack = true
        case "SimpleArrayData": if let key = attributes["name"] { track?.lists.append((key, [])) }
        case "LineString" where placemark != nil: lines += 1
        default: break
        }
    }

    private mutating func end(_ name: String) throws(TrackFileError) {
        guard open.popLast() == name else {
            throw TrackFileError(line: scanner.line, "no XML: </\(name)> ends what has not begun")
        }
        let value = text.trimmedOfSpace
        // A second text belongs to another element.
        text = ""
        switch name {
        case "when" where track != nil: track?.add(time: value)
        case "when" where open.last == "TimeStamp": placemark?.time = value
        case "coord": track?.add(place: value)
        case "coordinates" where open.last == "Point": placemark?.coordinates = value
        case "value": if let last = track?.lists.indices.last { track?.lists[last].values.append(value) }
        case "Track":
            if let track { points = Self.points(of: track)[...] }
            track = nil
        case "Placemark":
            if let placemark { points.append(contentsOf: Self.points(of: placemark)) }
            placemark = nil
        default: break
        }
        guard (track?.times.count ?? 0) <= Self.maximumPoints, (track?.places.count ?? 0) <= Self.maximumPoints,
            (track?.lists.count ?? 0) <= Self.maximumLists,
            (track?.lists.last?.values.count ?? 0) <= Self.maximumPoints
        else {
            throw TrackFileError(
                line: scanner.line,
                "a track of more than \(Self.maximumPoints) points, or with more than \(Self.maximumLists) lists: take it apart"
            )
        }
    }

    private static func points(of placemark: Placemark) -> [FilePoint] {
        guard !placemark.hasTrack, let time = placemark.time, let coordinates = placemark.coordinates else { return [] }
        var point = FilePoint(place: "line \(placemark.line)")
        point.fields[.time] = time
        set(coordinates, in: &point)
        return [point]
    }

    private static func points(of track: Track) -> [FilePoint] {
        func place(_ index: Int) -> String { "line \(track.line), point \(index + 1)" }
        guard track.times.count == track.places.count else {
            // One that is missing may be any of them.
            let reason =
                "the track has \(track.times.count) times and \(track.places.count) places: which belong together is not known"
            return (0..<max(track.times.count, track.places.count)).map { FilePoint(place: place($0), problem: reason) }
        }
        let lists = track.lists.filter { $0.values.count == track.places.count }
        var points = track.lists.filter { $0.values.count != track.places.count }.map { list in
            FilePoint(
                place: "line \(track.line)",
                problem:
                    "the list \(TrackFileError.quoted(list.name)) has \(list.values.count) values and the track \(track.places.count) places: the list is not read"
            )
        }
        for index in track.times.indices {
            var point = FilePoint(place: place(index))
            set(track.places[index], in: &point)
            if !track.times[index].isEmpty { point.fields[.time] = track.times[index] }
            var ranks: [FilePoint.Field: Int] = [:]
            for (name, values) in lists where !values[index].isEmpty {
                guard let (field, rank) = FilePoint.Field.named(name),
                    point.fields[field] == nil || ranks[field] != nil,
                    rank < ranks[field] ?? .max
                else {
                    point.attributes[name] = values[index]
                    continue
                }
                ranks[field] = rank
                point.fields[field] = values[index]
            }
            points.append(point)
        }
        return points
    }

    private static func set(_ text: String, in point: inout FilePoint) {
        do throws(PlaceTuples.Failure) {
            let place = try PlaceTuples.single(text)
            point.fields[.longitude] = place.longitude
            point.fields[.latitude] = place.latitude
            point.fields[.altitude] = place.height
        } catch {
            point.problem = error.reason
        }
    }
}
