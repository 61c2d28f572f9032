package import Geodesy
package import JSON
internal import TrackModel

extension ShapeDraft {
    /// As a JSON object: `kind`, the kind's members, `coord_type` and `buffer`. Places are `[latitude, longitude]`.
    package var json: JSONValue {
        var members: [String: JSONValue] = [:]
        switch outline {
        case .circle(let centre, let radius):
            members = [
                "kind": "circle", "latitude": .double(centre.latitude), "longitude": .double(centre.longitude),
                "radius": .double(radius),
            ]
        case .point(let place):
            members = [
                "kind": "point", "latitude": .double(place.latitude), "longitude": .double(place.longitude),
            ]
        case .polygon(let parts):
            members = ["kind": "polygon", "parts": .array(parts.map { .array($0.map(Self.json)) })]
        case .corridor(let line, let offset):
            members = ["kind": "corridor", "vertices": Self.json(line), "offset": .double(offset)]
        }
        if datum != .wgs84 { members["coord_type"] = .string(CoordinateType(datum).rawValue) }
        if buffer != 0 { members["buffer"] = .double(buffer) }
        return .object(members)
    }

    private static func json(_ line: [Degrees]) -> JSONValue {
        .array(line.map { [.double($0.latitude), .double($0.longitude)] })
    }

    /// Reads what ``json`` writes. The shape's own rules are ``shape()``'s to check.
    ///
    /// - Throws: ``FenceJSONError`` that names the member and what it needs.
    package init(json: JSONValue, path: String = "shape") throws(FenceJSONError) {
        var members = try DefinitionMembers(json, path)
        let outline: Outline
        switch try members.text("kind") {
        case "circle":
            let centre = try Self.place(&members)
            outline = .circle(centre: centre, radius: try Self.number("radius", &members))
        case "point": outline = .point(try Self.place(&members))
        case "polygon":
            var parts: [[[Degrees]]] = []
            for (index, part) in try Self.list(try members.need("parts"), "\(path).parts").enumerated() {
                var rings: [[Degrees]] = []
                let name = "\(path).parts[\(index)]"
                for (number, ring) in try Self.list(part, name).enumerated() {
                    rings.append(try Self.line(ring, "\(name)[\(number)]"))
                }
                parts.append(rings)
            }
            outline = .polygon(parts)
        case "corridor":
            let line = try Self.line(try members.need("vertices"), "\(path).vertices")
            outline = .corridor(line, offset: try Self.number("offset", &members))
        case let other:
            let found = other.map(FenceJSONError.quoted) ?? "missing"
            throw FenceJSONError("\(path).kind is \(found): it is circle, point, polygon or corridor")
        }
        let buffer = try members.number("buffer") ?? 0
        let name = try members.text("coord_type") ?? CoordinateType.wgs84.rawValue
        guard let type = CoordinateType(rawValue: name) else {
            throw FenceJSONError(
                "\(path).coord_type is \(FenceJSONError.quoted(name)): it is wgs84, gcj02 or bd09ll")
        }
        try members.end()
        self.init(outline, datum: type.datum, buffer: buffer)
    }

    private static func number(_ name: String, _ members: inout DefinitionMembers) throws(FenceJSONError) -> Double {
        guard let number = try members.number(name) else {
            throw FenceJSONError("\(members.path).\(name) is missing: a number of metres is needed")
        }
        return number
    }

    private static func place(_ members: inout DefinitionMembers) throws(FenceJSONError) -> Degrees {
        guard let latitude = try members.number("latitude"), let longitude = try members.number("longitude") else {
            throw FenceJSONError("\(members.path) needs latitude and longitude")
        }
        return Degrees(latitude: latitude, longitude: longitude)
    }

    private static func list(_ value: JSONValue, _ name: String) throws(FenceJSONError) -> [JSONValue] {
        guard let list = value.arrayValue else {
            throw FenceJSONError("\(name) is \(value.kind), and an array is needed")
        }
        return list
    }

    private static func line(_ value: JSONValue, _ name: String) throws(FenceJSONError) -> [Degrees] {
        let elements = try list(value, name)
        var line: [Degrees] = []
        line.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            guard let pair = element.arrayValue, pair.count == 2, let latitude = pair[0].doubleValue,
                let longitude = pair[1].doubleValue
            else {
                throw FenceJSONError(
                    "\(name)[\(index)] is \(FenceJSONError.quoted(element.description)), and [latitude, longitude] is needed"
                )
            }
            line.append(Degrees(latitude: latitude, longitude: longitude))
        }
        return line
    }
}

extension CoordinateType {
    init(_ datum: Datum) {
        self =
            switch datum {
            case .wgs84: .wgs84
            case .gcj02: .gcj02
            case .bd09: .bd09ll
            }
    }

    var datum: Datum {
        switch self {
        case .wgs84: .wgs84
        case .gcj02: .gcj02
        case .bd09ll: .bd09
        }
    }
}
