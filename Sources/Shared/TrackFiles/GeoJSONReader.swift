package import JSON

/// The points of a GeoJSON text (RFC 7946): points, and the places of lines, with what their feature says of them. Lists of a
/// value for each place are `coordTimes`, `times`, and those of `coordinateProperties`; several lines have a list for each.
///
/// The text is read as a whole, so it is bounded.
struct GeoJSONReader {
    static let maximumBytes = 16 << 20
    private static let maximumDepth = 8

    private var shapes: [GeoJSONShape] = []
    private var shape = 0
    private var place = 0
    /// Geometries that are neither points nor lines, by type; of further types only how many.
    private var others: [String: Int] = [:]
    private var furtherOthers = 0
    /// Features and geometries that have no coordinates.
    private var empty = 0
    private static let mostTypes = 16

    init(_ source: ByteSource) throws(TrackFileError) {
        let bytes = JSONNumbers.withoutWords(try source.rest(limit: Self.maximumBytes))
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(
                of: bytes, JSONRules(maximumBytes: bytes.count, maximumValues: .max, largeIntegers: .doubles))
        } catch {
            let line = 1 + bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") }
            throw TrackFileError(line: line, "no JSON: \(error)")
        }
        try GeoJSONReference.check(value["crs"])
        try gather(value, properties: [:], depth: 0)
    }

    /// For people: what of the file is not read.
    var notes: [String] {
        func note(_ count: Int, _ what: String) -> String {
            "\(count) \(what) \(count == 1 ? "is" : "are") not read: points and lines are"
        }
        return others.sorted { $0.key < $1.key }.map { note($0.value, "of the type \($0.key)") }
            + (furtherOthers > 0 ? [note(furtherOthers, "of other types")] : [])
            + (empty > 0 ? ["\(empty) without coordinates \(empty == 1 ? "is" : "are") not read"] : [])
    }

    /// Only the places of the first line; false when there is none.
    mutating func keepFirstLine() -> Bool {
        shapes = Array(shapes.filter(\.isLine).prefix(1))
        guard let line = shapes.indices.first else { return false }
        // A way needs no times, and no other values.
        (shapes[line].isTorn, shapes[line].timed, shapes[line].losses) = (nil, nil, [])
        return true
    }

    mutating func next() -> FilePoint? {
        while shape < shapes.count {
            let now = shapes[shape]
            guard place < now.count else {
                (shape, place) = (shape + 1, 0)
                continue
            }
            defer { place += 1 }
            return now.point(place)
        }
        return nil
    }

    private mutating func gather(
        _ value: JSONValue, properties: [String: JSONValue], depth: Int
    ) throws(TrackFileError) {
        guard let object = value.objectValue else { return }
        guard depth < Self.maximumDepth else {
            throw TrackFileError(
                "its collections are more than \(Self.maximumDepth) inside each other: take them apart")
        }
        let own = object["properties"]?.objectValue ?? properties
        let coordinates = object["coordinates"]
        switch object["type"]?.stringValue {
        case "Point": add([[coordinates ?? .null]], own, isLine: false)
        case "MultiPoint": add([coordinates?.arrayValue ?? []], own, isLine: false)
        case "LineString": add([coordinates?.arrayValue ?? []], own, isLine: true)
        case "MultiLineString":
            add((coordinates?.arrayValue ?? []).map { $0.arrayValue ?? [$0] }, own, isLine: true)
        case "FeatureCollection", "GeometryCollection": break
        case "Feature": if object["geometry"]?.objectValue == nil { empty += 1 }
        case let type?: passOver(type)
        case nil: break
        }
        let parts =
            [object["geometry"]].compactMap(\.self) + (object["features"]?.arrayValue ?? [])
            + (object["geometries"]?.arrayValue ?? [])
        for part in parts { try gather(part, properties: own, depth: depth + 1) }
    }

    private mutating func passOver(_ type: String) {
        let name = String(type.prefix(32))
        guard others[name] != nil || others.count < Self.mostTypes else { return furtherOthers += 1 }
        others[name, default: 0] += 1
    }

    private mutating func add(_ lines: [[JSONValue]], _ properties: [String: JSONValue], isLine: Bool) {
        if lines.allSatisfy(\.isEmpty) { empty += 1 }
        let lists = GeoJSONLists(properties, lengths: lines.map(\.count))
        for (index, line) in lines.enumerated() {
            shapes.append(
                GeoJSONShape(
                    number: shapes.count + 1, isLine: isLine, coordinates: line, properties: properties,
                    lists: lists.ofLine(index), isTorn: lists.isTorn, timed: lists.timed(index),
                    losses: index == 0 ? lists.losses : []))
        }
    }
}

/// The reference systems that a GeoJSON text may name. RFC 7946 has WGS 84 only; older texts say which they are in.
package enum GeoJSONReference {
    /// Whether the value of `crs` says WGS 84, or nothing.
    package static func isKnown(_ system: JSONValue?) -> Bool {
        guard let system, system != .null else { return true }
        guard let name = system["properties"]?["name"]?.stringValue else { return false }
        return ["CRS84", "CRS84h", "EPSG:4326", "EPSG::4326", "EPSG:4979", "EPSG::4979"].contains(where: name.hasSuffix)
    }

    static func check(_ system: JSONValue?) throws(TrackFileError) {
        guard let system, !isKnown(system) else { return }
        let name = system["properties"]?["name"]?.stringValue ?? system.description
        throw TrackFileError(
            "its crs is \(TrackFileError.quoted(name)): only WGS 84 is read; convert the file, for example with"
                + " ogr2ogr -t_srs EPSG:4326")
    }
}
