import JSON

/// The points of a GPX 1.x file (`trkpt` and `rtept`), one after the other; everything else in it is passed over. A file whose
/// first element is `kml` is handed on to ``KMLTrackReader``.
struct GPXReader {
    private static let maximumDepth = 64
    /// What is read of a point, also out of its extensions: GPX 1.0 has speed and course of its own. Accuracy, object and the
    /// attributes (`value`) are ``GPXText``'s.
    private static let children: [String: FilePoint.Field] = [
        "ele": .altitude, "time": .time, "speed": .speed, "course": .course, "accuracy": .accuracy,
        "object_name": .objectName,
    ]

    private var scanner: MarkupScanner
    private var open: [String] = []
    private var point: FilePoint?
    private var hasBegun = false
    /// Of the attribute that is read now.
    private var key: String?
    private var kml: KMLTrackReader?

    init(_ source: ByteSource) {
        scanner = MarkupScanner(source)
    }

    mutating func next() throws(TrackFileError) -> FilePoint? {
        if kml != nil { return try kml?.next() }
        while let token = try scanner.next() {
            switch token {
            case .start("kml", _, isEmpty: false) where !hasBegun:
                kml = KMLTrackReader(scanner, open: ["kml"])
                return try kml?.next()
            case .start(let name, let attributes, let isEmpty):
                hasBegun = true
                try begin(name, attributes)
                if isEmpty { try end(name) }
                if isEmpty, let point = taken(name) { return point }
            case .end(let name):
                try end(name)
                if let point = taken(name) { return point }
            case .text(let text):
                if open.last == "value", let key { point?.attributes[key, default: ""] += text }
                guard let field = open.last.flatMap({ Self.children[$0] }) else { continue }
                point?.fields[field, default: ""] += text
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
        key = name == "value" ? attributes["key"] : nil
        guard name == "trkpt" || name == "rtept" else { return }
        let (latitude, longitude) = (attributes["lat"] ?? "", attributes["lon"] ?? "")
        guard Double(decimal: latitude) != nil, Double(decimal: longitude) != nil else {
            throw TrackFileError(
                line: scanner.line, "\(name) lat=\"\(latitude)\" lon=\"\(longitude)\": numbers are needed")
        }
        var point = FilePoint(place: "line \(scanner.line)")
        point.isPlanned = name == "rtept"
        point.fields = [.latitude: latitude, .longitude: longitude]
        self.point = point
    }

    private mutating func end(_ name: String) throws(TrackFileError) {
        guard open.popLast() == name else {
            throw TrackFileError(line: scanner.line, "no XML: </\(name)> ends what has not begun")
        }
        guard let field = Self.children[name], let text = point?.fields[field] else { return }
        let trimmed = text.trimmedOfSpace
        point?.fields[field] = trimmed.isEmpty ? nil : trimmed
        if field == .altitude, Double(decimal: trimmed) == nil {
            throw TrackFileError(line: scanner.line, "ele \"\(trimmed)\": a number of metres is needed")
        }
    }

    private mutating func taken(_ name: String) -> FilePoint? {
        guard name == "trkpt" || name == "rtept" else { return nil }
        defer { point = nil }
        return point
    }
}

extension String {
    /// Without spaces, tabs and ends of lines around it.
    var trimmedOfSpace: String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = utf8.drop(while: isSpace)
        let kept = start.reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(kept), as: UTF8.self)
    }
}
