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
    /// Those of which the text does not say what they are.
    private var typeless = 0
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
            + (typeless > 0 ? ["\(typeless) without a type \(typeless == 1 ? "is" : "are") not read"] : [])
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
        case "FeatureCollection": break
        case "GeometryCollection": if object["geometries"]?.arrayValue?.isEmpty ?? true { empty += 1 }
        case "Feature": if object["geometry"]?.objectValue == nil { empty += 1 }
        case let type?: passOver(type)
        case nil: typeless += 1
        }
        let members = (object["features"]?.arrayValue ?? []) + (object["geometries"]?.arrayValue ?? [])
        empty += members.count { $0.objectValue == nil }
        for part in [object["geometry"]].compactMap(\.self) + members {
            try gather(part, properties: own, depth: depth + 1)
        }
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

/// A point, or one line, of a GeoJSON text, with the properties of its feature.
struct GeoJSONShape {
    let number: Int
    let isLine: Bool
    let coordinates: [JSONValue]
    let properties: [String: JSONValue]
    /// Values for each place, by their name.
    let lists: [(name: String, values: [JSONValue])]
    /// There are times, and it is not known which place each belongs to.
    var isTorn: String?
    /// How many of the places have a time, and why the others have none; nil: nothing is known of it.
    var timed: (count: Int, reason: String)?
    /// What of the feature is not read.
    var losses: [String]

    /// Places, and before them what is lost.
    var count: Int { losses.count + coordinates.count }

    func point(_ index: Int) -> FilePoint {
        guard index >= losses.count else { return FilePoint(place: "shape \(number)", problem: losses[index]) }
        let index = index - losses.count
        let which = coordinates.count == 1 ? "" : ", point \(index + 1)"
        var point = FilePoint(place: "shape \(number)\(which)", problem: isTorn)
        if let timed, index >= timed.count { point.problem = point.problem ?? timed.reason }
        guard point.problem == nil else { return point }
        let numbers = (coordinates[index].arrayValue ?? []).map(\.doubleValue)
        guard numbers.count >= 2, let longitude = numbers[0], let latitude = numbers[1] else {
            point.problem =
                "\(TrackFileError.quoted(coordinates[index].description)) is no place: [longitude, latitude] is needed"
            return point
        }
        point.texts = []
        var ranks: [FilePoint.Field: Int] = [:]
        for (key, value) in properties.sorted(by: { $0.key < $1.key }) where key != "coordinateProperties" {
            set(key, value, in: &point, &ranks, isOfPlace: false)
        }
        for (name, values) in lists { set(name, values[index], in: &point, &ranks, isOfPlace: true) }
        point.fields[.latitude] = String(latitude)
        point.fields[.longitude] = String(longitude)
        if numbers.count > 2, let altitude = numbers[2] { point.fields[.altitude] = String(altitude) }
        return point
    }

    /// A list of values, one a place, may say another type than the property of the same name: the last one counts.
    private func set(
        _ key: String, _ value: JSONValue, in point: inout FilePoint, _ ranks: inout [FilePoint.Field: Int],
        isOfPlace: Bool
    ) {
        guard let text = Self.text(value) else { return }
        let named = GeoJSONLists.times.contains(key) && isOfPlace ? (.time, 0) : FilePoint.Field.named(key)
        if let (field, rank) = named, isOfPlace || rank < ranks[field] ?? .max {
            ranks[field] = isOfPlace ? 0 : rank
            point.fields[field] = text
            return
        }
        point.attributes[key] = text
        if case .string = value { point.texts?.insert(key) } else { point.texts?.remove(key) }
    }

    /// Nil for what is no single value.
    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .null, .array, .object: nil
        case .string(let text): text.isEmpty ? nil : text
        case .bool, .integer, .double: value.description
        }
    }
}

/// The lists of a feature that have a value for each place, taken apart for its lines.
struct GeoJSONLists {
    static let times = ["coordTimes", "times"]

    private var lines: [[(name: String, values: [JSONValue])]]
    private(set) var isTorn: String?
    private(set) var losses: [String] = []
    /// Of each line: how far its longest list of times goes, and what is to be told of the rest.
    private var times: [(count: Int, reason: String)?]

    /// `lengths`: places of each line.
    init(_ properties: [String: JSONValue], lengths: [Int]) {
        (lines, times) = (lengths.map { _ in [] }, lengths.map { _ in nil })
        var given = Self.times.compactMap { key in properties[key].map { (key, $0) } }
        for (key, value) in (properties["coordinateProperties"]?.objectValue ?? [:]).sorted(by: { $0.key < $1.key }) {
            given.append((key, value))
        }
        for (name, value) in given {
            guard let list = value.arrayValue else { continue }
            let isTime = Self.times.contains(name) || FilePoint.Field.named(name)?.field == .time
            guard let parts = Self.parts(of: list, lengths, mayBeShort: isTime) else {
                let reason =
                    "\(TrackFileError.quoted(name)) has \(Self.count(list)) values, and there are \(lengths.reduce(0, +)) places"
                if isTime {
                    isTorn = isTorn ?? "\(reason): which time belongs to which place is not known"
                } else {
                    losses.append("\(reason): the list is not read")
                }
                continue
            }
            for (index, values) in parts.enumerated() {
                let missing = lengths[index] - values.count
                lines[index].append((name, values + Array(repeating: .null, count: missing)))
                guard isTime, values.count >= times[index]?.count ?? 0 else { continue }
                times[index] = (
                    values.count,
                    "\(TrackFileError.quoted(name)) has \(values.count) times, and there are \(lengths[index]) places of its line: this one has none"
                )
            }
        }
    }

    func ofLine(_ index: Int) -> [(name: String, values: [JSONValue])] { lines[index] }

    /// How many places of a line have a time, and why the others have none; nil: no list says it.
    func timed(_ index: Int) -> (count: Int, reason: String)? { times[index] }

    private static func count(_ list: [JSONValue]) -> Int { list.reduce(0) { $0 + ($1.arrayValue?.count ?? 1) } }

    /// A list for each line, whether they stand in lists of their own or one behind the other; nil when they do not fit.
    /// `mayBeShort`: a list of one line may end before its line: its values belong to the first places.
    private static func parts(of list: [JSONValue], _ lengths: [Int], mayBeShort: Bool) -> [[JSONValue]]? {
        let nested = list.compactMap(\.arrayValue)
        if nested.count == list.count, nested.map(\.count) == lengths { return nested }
        let each = lengths.count == 1 && nested.isEmpty ? [list] : nested.count == list.count ? nested : []
        let own = each.contains { $0.contains { $0.arrayValue != nil } } ? [] : each
        if mayBeShort, own.count == lengths.count, zip(own, lengths).allSatisfy({ $0.count <= $1 }) { return own }
        guard nested.isEmpty, list.count == lengths.reduce(0, +) else { return nil }
        var (rest, parts) = (list[...], [[JSONValue]]())
        for length in lengths {
            parts.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return parts
    }
}

/// What writers put into JSON where they have no number: `NaN`, `Infinity` and `-Infinity`, which JSON does not know (RFC 8259,
/// section 6). Python writes them.
package enum JSONNumbers {
    private static let words = ["NaN", "nan", "-NaN", "-nan", "Infinity", "-Infinity", "inf", "-inf"].map {
        Array($0.utf8)
    }
    .sorted { $0.count > $1.count }

    /// The same text with `null` in their places; at most one byte more for each, and up to five less.
    package static func withoutWords(_ bytes: [UInt8]) -> [UInt8] {
        // Texts with one of them are rare.
        guard hasWord(bytes) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 64)
        var (index, isText) = (0, false)
        while index < bytes.count {
            let byte = bytes[index]
            if isText {
                result.append(byte)
                index += 1
                if byte == UInt8(ascii: "\\"), index < bytes.count {
                    result.append(bytes[index])
                    index += 1
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            isText = byte == UInt8(ascii: "\"")
            let isStart =
                byte == UInt8(ascii: "N") || byte == UInt8(ascii: "I") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "n") || byte == UInt8(ascii: "i")
            if isStart, let word = word(in: bytes, at: index) {
                result += Array("null".utf8)
                index += word
            } else {
                result.append(byte)
                index += 1
            }
        }
        return result
    }

    private static func hasWord(_ bytes: [UInt8]) -> Bool {
        // `N` and `I` stand in none of JSON's own words; nor do `na` and `in`.
        var last: UInt8 = 0
        for byte in bytes {
            if byte == UInt8(ascii: "N") || byte == UInt8(ascii: "I") { return true }
            if last == UInt8(ascii: "n"), byte == UInt8(ascii: "a") { return true }
            if last == UInt8(ascii: "i"), byte == UInt8(ascii: "n") { return true }
            last = byte
        }
        return false
    }

    /// The length of the word that stands there, with nothing that would make it another one.
    private static func word(in bytes: [UInt8], at index: Int) -> Int? {
        let isEnd = { (at: Int) in
            at < 0 || at >= bytes.count || bytes[at] <= 0x20 || ",:[]{}".utf8.contains(bytes[at])
        }
        guard isEnd(index - 1) else { return nil }
        return words.first { bytes[index...].starts(with: $0) && isEnd(index + $0.count) }?.count
    }
}
