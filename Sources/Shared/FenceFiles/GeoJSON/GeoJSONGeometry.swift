internal import Geodesy
internal import JSON

/// Reads a feature and its geometry out of JSON.
enum GeoJSONGeometry {
    private static let deepestCollection = 4

    static func feature(_ value: JSONValue, number: Int) throws(RefusedFeature) -> FenceFeature {
        let id = value["id"].flatMap(text)
        func refused(_ reason: String, _ properties: [String: JSONValue]? = nil) -> RefusedFeature {
            RefusedFeature(number: number, id: id, reason: reason, properties: properties)
        }
        guard let type = value["type"]?.stringValue, type == "Feature" else {
            let found = value["type"]?.stringValue.map(FenceFileError.quoted) ?? "missing"
            throw refused(
                value.objectValue == nil ? "it is \(value.kind), not a Feature" : "its type is \(found), not Feature")
        }
        let properties: [String: JSONValue]
        switch value["properties"] {
        case nil, .null?: properties = [:]
        case .object(let members)?: properties = members
        case let other?: throw refused("its properties are \(other.kind), not an object")
        }
        do throws(FenceFileError) {
            var parts: [FeatureGeometry.Part] = []
            try add(value["geometry"] ?? .null, to: &parts, depth: 0)
            guard !parts.isEmpty else { throw FenceFileError("its geometry is empty: a fence needs a place") }
            return FenceFeature(number: number, id: id, geometry: FeatureGeometry(parts), properties: properties)
        } catch {
            throw refused(error.description, properties)
        }
    }

    /// An id is a text or a number.
    static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let number): String(number)
        case .double(let number): Int64(exactly: number).map { String($0) } ?? String(number)
        case .null, .bool, .array, .object: nil
        }
    }

    private static func add(
        _ value: JSONValue, to parts: inout [FeatureGeometry.Part], depth: Int
    ) throws(FenceFileError) {
        guard value != .null else { throw FenceFileError("it has no geometry: a fence needs a place") }
        guard let type = value["type"]?.stringValue else {
            throw FenceFileError("its geometry has no type: it is a Point, a LineString, a Polygon or several of them")
        }
        if type == "GeometryCollection" {
            guard depth < deepestCollection else {
                throw FenceFileError("its GeometryCollection is nested more than \(deepestCollection) levels deep")
            }
            guard let geometries = value["geometries"]?.arrayValue else {
                throw FenceFileError("its GeometryCollection has no array of geometries")
            }
            for geometry in geometries { try add(geometry, to: &parts, depth: depth + 1) }
            return
        }
        guard let coordinates = value["coordinates"] else { throw FenceFileError("its \(type) has no coordinates") }
        switch type {
        case "Point": parts.append(.point(try position(coordinates, "its point")))
        case "MultiPoint":
            for (index, one) in try list(coordinates, "its points").enumerated() {
                parts.append(.point(try position(one, "point \(index + 1)")))
            }
        case "LineString": parts.append(.line(try line(coordinates, "its line")))
        case "MultiLineString":
            var lines: [[Degrees]] = []
            for (index, one) in try list(coordinates, "its lines").enumerated() {
                lines.append(try line(one, "line \(index + 1)"))
            }
            parts += FeatureGeometry.joined(lines)
        case "Polygon": parts.append(.polygon([try rings(coordinates, "")]))
        case "MultiPolygon":
            var polygons: [[[Degrees]]] = []
            for (index, one) in try list(coordinates, "its polygons").enumerated() {
                polygons.append(try rings(one, " of polygon \(index + 1)"))
            }
            guard !polygons.isEmpty else { return }
            parts.append(.polygon(polygons))
        default:
            throw FenceFileError(
                "its geometry is a \(FenceFileError.quoted(type)): it is a Point, a LineString, a Polygon or several of them"
            )
        }
    }

    private static func list(_ value: JSONValue, _ name: @autoclosure () -> String) throws(FenceFileError)
        -> [JSONValue]
    {
        guard let elements = value.arrayValue else {
            throw FenceFileError("\(name()) is \(value.kind), and an array is needed")
        }
        return elements
    }

    private static func rings(_ value: JSONValue, _ place: String) throws(FenceFileError) -> [[Degrees]] {
        var rings: [[Degrees]] = []
        for (index, ring) in try list(value, "the list of rings\(place)").enumerated() {
            let name = index == 0 ? "the outer ring\(place)" : "hole \(index)\(place)"
            rings.append(FeatureGeometry.opened(try line(ring, name)))
        }
        return rings
    }

    private static func line(_ value: JSONValue, _ name: String) throws(FenceFileError) -> [Degrees] {
        let elements = try list(value, name)
        var line: [Degrees] = []
        line.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            line.append(try position(element, "position \(index + 1) of \(name)"))
        }
        return line
    }

    /// Longitude first. A height is passed over.
    private static func position(_ value: JSONValue, _ name: @autoclosure () -> String) throws(FenceFileError)
        -> Degrees
    {
        guard let numbers = value.arrayValue, numbers.count >= 2, let longitude = numbers[0].doubleValue,
            let latitude = numbers[1].doubleValue
        else {
            throw FenceFileError(
                "\(name()) is \(FenceFileError.quoted(value.description)), and [longitude, latitude] is needed")
        }
        return Degrees(latitude: latitude, longitude: longitude)
    }
}
