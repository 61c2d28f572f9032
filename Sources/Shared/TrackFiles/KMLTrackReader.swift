internal import TrackModel

/// The points of a KML file: those of its tracks (`gx:Track`), which are times, places, and lists of what else they have; and
/// the points of its placemarks, which have the time of their placemark (`TimeStamp`, or the begin of a `TimeSpan`).
struct KMLTrackReader {
    private static let maximumDepth = 64
    /// Of one track or placemark; a whole one is in memory.
    private static let maximumPoints = 200_000
    private static let maximumLists = 256
    private static let texts: Set<String> = [
        "when", "begin", "coord", "value", "coordinates", "SimpleData", FloorAttribute.key,
    ]

    private var scanner: MarkupScanner
    private var open: [String] = []
    private var text = ""
    private var track: KMLTrack?
    private var placemark: KMLPlacemark?
    /// The name of the data that are read.
    private var key: String?
    private var points: ArraySlice<FilePoint> = []
    private var ways: [String: Int] = [:]
    private var hasPoint = false
    private var isBroken = false

    /// `open`: the elements that were read already.
    init(_ scanner: MarkupScanner, open: [String]) {
        (self.scanner, self.open) = (scanner, open)
    }

    /// For people: what of the file is not read.
    var notes: [String] {
        ways.sorted { $0.key < $1.key }.map { name, count in
            count == 1
                ? "1 of the type \(name) is not read: it has no times, a gx:Track has"
                : "\(count) of the type \(name) are not read: they have no times, a gx:Track has"
        }
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
                    track.cut()
                    points.append(contentsOf: track.points(placemark?.data ?? KMLData()))
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
        let isInShape = open.contains(where: KMLPlacemark.shapes.contains)
        open.append(name)
        text = ""
        switch name {
        case "Placemark", "PhotoOverlay": placemark = KMLPlacemark(line: scanner.line)
        case "Track": track = KMLTrack(line: scanner.line)
        case "Point":
            // Of no placemark: a point without a time.
            if placemark == nil { placemark = KMLPlacemark(line: scanner.line) }
            placemark?.beginPoint()
        case "TimeSpan" where isOfPlacemark: placemark?.beginSpan()
        case "SimpleArrayData": track?.add(list: attributes["name"] ?? "")
        case "Data", "SimpleData": key = attributes["name"]
        case _ where track == nil && !isInShape && KMLPlacemark.shapes.contains(name):
            placemark?.add(shape: name, line: scanner.line)
        default: break
        }
    }

    /// The element that was opened last is the placemark's own: what shows the place may have another time.
    private var isOfPlacemark: Bool { ["Placemark", "PhotoOverlay"].contains(open.dropLast().last) }

    private mutating func end(_ name: String) throws(TrackFileError) {
        guard open.last == name else {
            throw TrackFileError(line: scanner.line, "no XML: </\(name)> ends what has not begun")
        }
        let value = text.trimmedOfSpace
        // A second text belongs to another element.
        text = ""
        let outer = open.dropLast()
        switch (name, outer.last) {
        case ("when", "TimeStamp") where track == nil: if isTime(outer) { placemark?.set(stamp: value) }
        case ("when", _): track?.add(time: value)
        case ("begin", "TimeSpan"): if isTime(outer) { placemark?.set(begin: value) }
        case ("coord", _): track?.add(place: value)
        case ("coordinates", "Point"): placemark?.add(coordinates: value)
        case ("value", "Data"), ("SimpleData", _): if let key { add(data: value, key) }
        case (FloorAttribute.key, "ExtendedData"): add(data: value, name)
        case ("value", _): track?.add(value: value)
        case ("Point", _):
            placemark?.endPoint()
            if !open.contains("Placemark"), !open.contains("PhotoOverlay") { endPlacemark() }
        case ("Track", _):
            if let track { points.append(contentsOf: track.points(placemark?.data ?? KMLData())) }
            placemark?.endTrack()
            track = nil
        case ("Placemark", _), ("PhotoOverlay", _): endPlacemark()
        default: break
        }
        open.removeLast()
        try checkBounds()
    }

    /// Whether a time that was read within these elements is that of the placemark.
    private func isTime(_ outer: ArraySlice<String>) -> Bool {
        ["Placemark", "PhotoOverlay"].contains(outer.dropLast().last)
    }

    private mutating func add(data value: String, _ name: String) {
        if track != nil { track?.data.add(value, name) } else { placemark?.add(data: value, name) }
    }

    private mutating func endPlacemark() {
        if let placemark { points.append(contentsOf: placemark.finished(counting: &ways)) }
        placemark = nil
    }

    private func checkBounds() throws(TrackFileError) {
        guard (track?.times.count ?? 0) <= Self.maximumPoints, (track?.places.count ?? 0) <= Self.maximumPoints,
            (track?.lists.count ?? 0) <= Self.maximumLists,
            (track?.lists.last?.values.count ?? 0) <= Self.maximumPoints,
            (track?.data.values.count ?? 0) <= Self.maximumLists
        else {
            throw TrackFileError(
                line: scanner.line,
                "a track of more than \(Self.maximumPoints) points, or with more than \(Self.maximumLists) lists: take it apart"
            )
        }
        guard (placemark?.count ?? 0) <= Self.maximumPoints, (placemark?.data.values.count ?? 0) <= Self.maximumLists
        else {
            throw TrackFileError(
                line: scanner.line,
                "a placemark of more than \(Self.maximumPoints) places, or with more than \(Self.maximumLists) data: take it apart"
            )
        }
    }

    static func set(_ text: String, in point: inout FilePoint) {
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

/// A `gx:Track` of KML while it is read: times, places, and lists of what else they have.
struct KMLTrack {
    let line: Int
    private(set) var times: [String] = []
    private(set) var places: [String] = []
    private(set) var lists: [(name: String, values: [String])] = []
    var data = KMLData()
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

    mutating func add(list name: String) { lists.append((name, [])) }

    mutating func add(value: String) {
        if let last = lists.indices.last { lists[last].values.append(value) }
    }

    /// Of a file that breaks off: the first ones of all belong together.
    mutating func cut() {
        let count = min(times.count, places.count)
        times.removeLast(times.count - count)
        places.removeLast(places.count - count)
        lists = lists.filter { $0.values.count >= count }.map {
            (name: $0.name, values: Array($0.values.prefix(count)))
        }
    }

    /// `outer`: the data of the placemark, which count where the track says nothing.
    func points(_ outer: KMLData) -> [FilePoint] {
        func place(_ index: Int) -> String { "line \(line), point \(index + 1)" }
        guard times.count == places.count else {
            // One that is missing may be any of them.
            let reason =
                "the track has \(times.count) times and \(places.count) places: which belong together is not known"
            return (0..<max(times.count, places.count)).map { FilePoint(place: place($0), problem: reason) }
        }
        let whole = lists.filter { $0.values.count == places.count }
        var points = lists.filter { $0.values.count != places.count }.map { list in
            FilePoint(
                place: "line \(line)",
                problem:
                    "the list \(TrackFileError.quoted(list.name)) has \(list.values.count) values and the track \(places.count) places: the list is not read"
            )
        }
        for index in times.indices {
            var point = FilePoint(place: place(index))
            KMLTrackReader.set(places[index], in: &point)
            if !times[index].isEmpty { point.fields[.time] = times[index] }
            var choice = KMLFieldChoice(point)
            for (name, values) in whole where !name.isEmpty && !values[index].isEmpty {
                choice.set(values[index], FilePoint.Field.named(name), name, in: &point)
            }
            data.set(in: &point)
            outer.set(in: &point)
            points.append(point)
        }
        return points
    }
}
