internal import Geodesy
internal import JSON
package import TrackFiles

/// The features of a GeoJSON text (RFC 7946), one after the other, however long the text is: a collection, one feature, or a
/// bare geometry.
package struct GeoJSONFeatures: FeatureReader {
    private enum Phase {
        case beginning
        case members
        case features
        case ended
    }

    private static let kept: Set<String> = [
        "type", "crs", "id", "geometry", "properties", "coordinates", "geometries",
    ]

    private let pieces: JSONPieces
    private let source: ByteSource
    private let limits: FenceFileLimits
    private var phase = Phase.beginning
    private var members: [String: JSONValue] = [:]
    private var names: Set<String> = []
    private var isFirst = true
    private var number = 0

    package init(_ source: ByteSource, limits: FenceFileLimits = FenceFileLimits()) {
        self.source = source
        pieces = JSONPieces(source)
        self.limits = limits
    }

    package mutating func next() throws(FenceFileError) -> FileFeature? {
        while true {
            switch phase {
            case .beginning:
                do throws(TrackFileError) { _ = try source.begin() } catch { throw FenceFileError(error) }
                guard try pieces.take("{") else {
                    throw pieces.error("a GeoJSON text is an object and begins with '{'")
                }
                phase = .members
            case .members:
                guard try hasNext("}") else {
                    guard try pieces.peek() == nil else { throw pieces.error("something follows the text") }
                    phase = .ended
                    if let whole = try whole() { return whole }
                    continue
                }
                try member()
            case .features:
                guard try hasNext("]") else {
                    (phase, isFirst) = (.members, false)
                    continue
                }
                return try feature()
            case .ended: return nil
            }
        }
    }

    /// Passes over what stands before the next entry; false, and behind the bracket, at the end.
    private mutating func hasNext(_ bracket: Unicode.Scalar) throws(FenceFileError) -> Bool {
        if try pieces.take(bracket) { return false }
        if !isFirst { try pieces.expect(",") }
        isFirst = false
        return true
    }

    private mutating func member() throws(FenceFileError) {
        guard try pieces.peek() == UInt8(ascii: "\""), let bytes = try pieces.value(limit: 1024),
            let name = try json(bytes, "a member's name").stringValue
        else { throw pieces.error("a member's name in quotes, of at most 1 KiB, is expected") }
        try pieces.expect(":")
        guard names.insert(name).inserted || !(Self.kept.contains(name) || name == "features") else {
            throw pieces.error("the member \(FenceFileError.quoted(name)) stands twice")
        }
        // A bound for the names of members that nobody reads.
        if names.count > 1000 { names = names.filter { Self.kept.contains($0) || $0 == "features" } }
        if name == "features" {
            guard try pieces.take("[") else { throw FenceFileError("line \(pieces.line): features is no array") }
            (phase, isFirst) = (.features, true)
            return
        }
        let line = pieces.line
        let value = try pieces.value(limit: Self.kept.contains(name) ? limits.featureBytes : 0)
        guard Self.kept.contains(name) else { return }
        guard let value else {
            throw FenceFileError("line \(line): \(name) has more than \(limits.featureBytes >> 20) MiB")
        }
        members[name] = try json(value, "the member \(name) in line \(line)")
        if name == "crs" { try checkReferenceSystem() }
    }

    private func json(_ bytes: [UInt8], _ what: String) throws(FenceFileError) -> JSONValue {
        do throws(JSONError) {
            return try value(bytes)
        } catch {
            throw FenceFileError("\(what) is \(error)")
        }
    }

    private func value(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        try JSONReader.value(
            of: JSONNumbers.withoutWords(bytes),
            JSONRules(maximumBytes: .max, maximumDepth: 64, maximumValues: limits.values, largeIntegers: .doubles))
    }

    private mutating func feature() throws(FenceFileError) -> FileFeature {
        number += 1
        guard number <= limits.features else {
            throw FenceFileError("more than \(limits.features) features: take the file apart")
        }
        _ = try pieces.peek()
        let line = pieces.line
        let bytes: [UInt8]?
        do throws(FenceFileError) {
            bytes = try pieces.value(limit: limits.featureBytes)
        } catch {
            throw FenceFileError("feature \(number), \(error.description)")
        }
        guard let bytes else {
            return .refused(
                RefusedFeature(
                    number: number,
                    reason: "it has more than \(limits.featureBytes >> 20) MiB: give it fewer vertices or attributes"))
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try self.value(bytes)
        } catch {
            // Where it ends is known from its brackets, so that the others can be read.
            let reason =
                error.code == .tooManyValues
                ? "it has more than \(limits.values) values: give it fewer vertices" : "from line \(line): \(error)"
            return .refused(RefusedFeature(number: number, reason: reason))
        }
        return Self.outcome(of: value, number: number)
    }

    static func outcome(of value: JSONValue, number: Int) -> FileFeature {
        do throws(RefusedFeature) {
            return .feature(try GeoJSONGeometry.feature(value, number: number))
        } catch {
            return .refused(error)
        }
    }

    /// What the text is when it ends: a feature or a geometry of its own, or a collection that has been read.
    private mutating func whole() throws(FenceFileError) -> FileFeature? {
        let type = members["type"]?.stringValue
        let isCollection = names.contains("features")
        guard !isCollection || type == "FeatureCollection" else {
            throw FenceFileError("it has features, and its type is \(type ?? "missing"), not FeatureCollection")
        }
        if isCollection { return nil }
        guard let type, type != "FeatureCollection" else {
            throw FenceFileError(
                members["type"] == nil
                    ? "it has no type: a GeoJSON text is a FeatureCollection, a Feature or a geometry"
                    : "its features are missing")
        }
        let value = JSONValue.object(members)
        if type == "Feature" { return Self.outcome(of: value, number: 1) }
        return Self.outcome(of: ["type": "Feature", "geometry": value], number: 1)
    }

    /// RFC 7946 has WGS 84 only. Older files say which system they are in.
    private func checkReferenceSystem() throws(FenceFileError) {
        guard let system = members["crs"], !GeoJSONReference.isKnown(system) else { return }
        let name = system["properties"]?["name"]?.stringValue
        throw FenceFileError(
            "its crs is \(FenceFileError.quoted(name ?? system.description)): only WGS 84 is read; convert the file,"
                + " for example with ogr2ogr -t_srs EPSG:4326")
    }
}

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
