internal import TrackModel

/// The points of a GPX 1.x file (`trkpt` and `rtept`), one after the other; everything else in it is passed over. A file whose
/// first element is `kml` is handed on to ``KMLTrackReader``.
struct GPXReader {
    private static let maximumDepth = 64

    private var scanner: MarkupScanner
    private var open: [String] = []
    private var draft: GPXPointDraft?
    private var hasBegun = false
    private var kml: KMLTrackReader?
    private var waypoints = 0
    private var hasPoint = false
    private var isBroken = false

    init(_ source: ByteSource) {
        scanner = MarkupScanner(source)
    }

    /// For people: what of the file is not read.
    var notes: [String] {
        if let kml { return kml.notes }
        let what = waypoints == 1 ? "1 waypoint is" : "\(waypoints) waypoints are"
        return waypoints == 0 ? [] : ["\(what) not read: only the points of tracks are"]
    }

    mutating func next() throws(TrackFileError) -> FilePoint? {
        if kml != nil { return try kml?.next() }
        guard !isBroken else { return nil }
        do throws(TrackFileError) {
            let point = try following()
            hasPoint = hasPoint || point != nil
            return point
        } catch {
            // Without a point the file is of no use.
            guard hasPoint else { throw error }
            isBroken = true
            return .end(error, line: scanner.line)
        }
    }

    private mutating func following() throws(TrackFileError) -> FilePoint? {
        while let token = try scanner.next() {
            switch token {
            case .start("kml", _, isEmpty: false) where !hasBegun:
                kml = KMLTrackReader(scanner, open: ["kml"])
                return try kml?.next()
            case .start(let name, let attributes, let isEmpty):
                hasBegun = true
                try begin(name, attributes)
                if isEmpty, let point = try end(name) { return point }
            case .end(let name):
                if let point = try end(name) { return point }
            case .text(let text): draft?.add(text)
            }
        }
        guard open.isEmpty, hasBegun else {
            throw TrackFileError(line: scanner.line, "no XML: it ends within an element")
        }
        return nil
    }

    private mutating func begin(_ name: String, _ attributes: [String: String]) throws(TrackFileError) {
        guard open.count < Self.maximumDepth else {
            throw TrackFileError(line: scanner.line, "no XML: elements more than \(Self.maximumDepth) deep")
        }
        open.append(name)
        if draft != nil {
            draft?.begin(name, attributes)
        } else if name == "trkpt" || name == "rtept" {
            draft = GPXPointDraft(name, attributes, line: scanner.line)
        } else if name == "wpt" {
            waypoints += 1
        }
    }

    /// The point that ends.
    private mutating func end(_ name: String) throws(TrackFileError) -> FilePoint? {
        guard open.popLast() == name else {
            throw TrackFileError(line: scanner.line, "no XML: </\(name)> ends what has not begun")
        }
        guard draft?.end() == true else { return nil }
        defer { draft = nil }
        return draft?.point
    }
}

/// A point of a GPX file while it is read.
///
/// Time and height are elements of the point itself. Speed and course are, too, in GPX 1.0; since GPX 1.1 they stand in an
/// extension, such as Garmin's `TrackPointExtension`, OsmAnd's `speed` and the ones that ``GPXText`` writes. Some writers do
/// both: the point's own element counts, then Garmin's, then any other.
private struct GPXPointDraft {
    /// Who says a value; the lesser one counts.
    private enum Rank: Int {
        case own, garmin, other
    }

    private struct Value {
        let rank: Rank
        let text: String
    }

    /// `cog`: so do COROS and GPSResults name the course.
    private static let own: [String: FilePoint.Field] = [
        "time": .time, "ele": .altitude, "speed": .speed, "course": .course, "cog": .course,
    ]
    private static let extended: [String: FilePoint.Field] = [
        "speed": .speed, "course": .course, "cog": .course, "accuracy": .accuracy, "object_name": .objectName,
    ]

    private var read: FilePoint
    private var values: [FilePoint.Field: [Value]] = [:]
    /// Elements inside the point's.
    private var open: [String] = []
    private var unit: String?
    private var key: String?
    private var text = ""
    /// Elements `floor`, of whichever program.
    private var floors: [String] = []

    init(_ name: String, _ attributes: [String: String], line: Int) {
        read = FilePoint(place: "line \(line)")
        read.isPlanned = name == "rtept"
        let (latitude, longitude) = (attributes["lat"] ?? "", attributes["lon"] ?? "")
        guard FileNumber.value(latitude) != nil, FileNumber.value(longitude) != nil else {
            read.problem =
                "\(name) lat=\(TrackFileError.quoted(latitude)) lon=\(TrackFileError.quoted(longitude)): numbers are needed"
            return
        }
        read.fields = [.latitude: latitude.trimmedOfSpace, .longitude: longitude.trimmedOfSpace]
    }

    mutating func begin(_ name: String, _ attributes: [String: String]) {
        open.append(name)
        text = ""
        unit = (attributes["unit"] ?? attributes["units"] ?? attributes["uom"])?.lowercased()
        key = attributes["key"]
    }

    mutating func add(_ more: String) { if !open.isEmpty { text += more } }

    /// Whether the point's own element ends.
    mutating func end() -> Bool {
        guard let name = open.popLast() else { return true }
        // What stands around an element is no value of the outer one.
        defer { text = "" }
        let value = text.trimmedOfSpace
        guard !value.isEmpty else { return false }
        if open.isEmpty {
            if let field = Self.own[name] { add(value, to: field, .own) }
            if name == FloorAttribute.key { floors.append(value) }
        } else if open.first == "extensions" {
            if name == "value", let key { read.attributes[key] = value }
            if name == FloorAttribute.key, key == nil { floors.append(value) }
            if let field = Self.extended[name] {
                add(value, to: field, open.contains("TrackPointExtension") ? .garmin : .other)
            }
        }
        return false
    }

    private mutating func add(_ text: String, to field: FilePoint.Field, _ rank: Rank) {
        var text = text
        if let unit, field != .time, field != .objectName {
            guard let factor = FileUnit.factor(of: unit, for: field) else {
                return values[field, default: []].append(Value(rank: rank, text: "\(text) \(unit)"))
            }
            text = FileUnit.converted(text, by: factor)
        }
        values[field, default: []].append(Value(rank: rank, text: text))
    }

    /// The point with what counts. Two different values of one rank are a guess.
    var point: FilePoint {
        var point = read
        for (field, values) in values {
            guard let best = values.min(by: { $0.rank.rawValue < $1.rank.rawValue }) else { continue }
            let others = values.filter { $0.rank == best.rank && !Self.isSame($0.text, best.text) }
            if let other = others.first, field != .altitude {
                point.problem =
                    point.problem
                    ?? "\(field.rawValue) stands twice, as \(TrackFileError.quoted(best.text)) and \(TrackFileError.quoted(other.text))"
            }
            point.fields[field] = best.text
        }
        // What an export has written as a value with a key counts; of others only what all agree on.
        if let floor = floors.first, point.attributes[FloorAttribute.key] == nil {
            if let other = floors.first(where: { !Self.isSame($0, floor) }) {
                point.problem =
                    point.problem
                    ?? "floor stands twice, as \(TrackFileError.quoted(floor)) and \(TrackFileError.quoted(other))"
            }
            point.attributes[FloorAttribute.key] = floor
        }
        return point
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        guard let first = FileNumber.value(left), let second = FileNumber.value(right) else { return left == right }
        return first == second
    }
}
