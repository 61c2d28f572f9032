import JSON

/// The points of a GeoJSON text (RFC 7946): points, and the places of lines, with what their feature says of them. Lists of a
/// value for each place are `coordTimes`, `times`, and those of `coordinateProperties`.
///
/// The text is read as a whole, so it is bounded.
struct GeoJSONReader {
    static let maximumBytes = 16 << 20
    private static let maximumDepth = 8

    /// A geometry that is made of places, with the properties of its feature.
    private struct Shape {
        let number: Int
        let isLine: Bool
        let coordinates: [JSONValue]
        let properties: [String: JSONValue]
    }

    private var shapes: [Shape] = []
    private var shape = 0
    private var place = 0

    init(_ source: ByteSource) throws(TrackFileError) {
        let bytes = try source.rest(limit: Self.maximumBytes)
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(of: bytes, JSONRules(maximumBytes: Self.maximumBytes, maximumValues: .max))
        } catch {
            throw TrackFileError("no JSON: \(error)")
        }
        gather(value, properties: [:], depth: 0)
    }

    /// Only the places of the first line; false when there is none.
    mutating func keepFirstLine() -> Bool {
        shapes = Array(shapes.filter(\.isLine).prefix(1))
        return !shapes.isEmpty
    }

    mutating func next() throws(TrackFileError) -> FilePoint? {
        while shape < shapes.count {
            let now = shapes[shape]
            guard place < now.coordinates.count else {
                (shape, place) = (shape + 1, 0)
                continue
            }
            defer { place += 1 }
            return try point(now, place)
        }
        return nil
    }

    private mutating func gather(_ value: JSONValue, properties: [String: JSONValue], depth: Int) {
        guard depth < Self.maximumDepth, let object = value.objectValue else { return }
        let own = object["properties"]?.objectValue ?? properties
        let coordinates: [JSONValue]? =
            switch object["type"]?.stringValue {
            case "Point": [object["coordinates"] ?? .null]
            case "LineString", "MultiPoint": object["coordinates"]?.arrayValue ?? []
            default: nil
            }
        if let coordinates {
            let isLine = object["type"]?.stringValue == "LineString"
            shapes.append(
                Shape(number: shapes.count + 1, isLine: isLine, coordinates: coordinates, properties: own))
        }
        let parts =
            [object["geometry"]].compactMap(\.self) + (object["features"]?.arrayValue ?? [])
            + (object["geometries"]?.arrayValue ?? [])
        for part in parts { gather(part, properties: own, depth: depth + 1) }
    }

    private func point(_ shape: Shape, _ index: Int) throws(TrackFileError) -> FilePoint {
        let which = shape.coordinates.count == 1 ? "" : ", point \(index + 1)"
        var point = FilePoint(place: "shape \(shape.number)\(which)")
        point.texts = []
        guard let numbers = shape.coordinates[index].arrayValue?.map(\.doubleValue), numbers.count >= 2,
            let longitude = numbers[0], let latitude = numbers[1]
        else {
            throw TrackFileError(
                "\(point.place) is not [longitude, latitude] or [longitude, latitude, altitude]")
        }
        for (key, value) in shape.properties where !Self.timeLists.contains(key) {
            guard let text = Self.text(value) else { continue }
            if let field = FilePoint.Field(rawValue: key) {
                point.fields[field] = text
            } else {
                Self.set(key, text, of: value, in: &point)
            }
        }
        // A list of times, one a place, is how tracks are written in GeoJSON.
        for key in Self.timeLists {
            guard let times = shape.properties[key]?.arrayValue, index < times.count else { continue }
            point.fields[.time] = Self.text(times[index])
        }
        for (key, value) in shape.properties["coordinateProperties"]?.objectValue ?? [:] {
            guard let values = value.arrayValue, index < values.count, let text = Self.text(values[index]) else {
                continue
            }
            if Self.timeLists.contains(key) {
                point.fields[.time] = text
            } else if let field = FilePoint.Field(rawValue: key) {
                point.fields[field] = text
            } else {
                Self.set(key, text, of: values[index], in: &point)
            }
        }
        point.fields[.latitude] = String(latitude)
        point.fields[.longitude] = String(longitude)
        if numbers.count > 2, let altitude = numbers[2] { point.fields[.altitude] = String(altitude) }
        return point
    }

    /// A list of values, one a place, may say another type than the property of the same name: the last one counts.
    private static func set(_ key: String, _ text: String, of value: JSONValue, in point: inout FilePoint) {
        point.attributes[key] = text
        if case .string = value { point.texts?.insert(key) } else { point.texts?.remove(key) }
    }

    private static let timeLists = ["coordTimes", "times"]

    /// Nil for what is no single value.
    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .null, .array, .object: nil
        case .string(let text): text.isEmpty ? nil : text
        case .bool, .integer, .double: value.description
        }
    }
}
