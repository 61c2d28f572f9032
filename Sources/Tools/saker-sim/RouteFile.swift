internal import DriveSimulation
internal import Foundation
internal import FoundationXML
internal import Geodesy

/// Routes from GPX 1.x (`trkpt`, or else `rtept`) and GeoJSON (the first LineString; RFC 7946).
enum RouteFile {
    static let largest = 64 * 1024 * 1024

    static func read(_ path: String, isClosed: Bool) throws -> Route {
        let data: Data
        do {
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            guard size <= largest else {
                throw SimulationError(.routeFile, "\(path): \(size) bytes: at most \(largest) are read")
            }
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as SimulationError {
            throw error
        } catch {
            throw SimulationError(.routeFile, "\(path): cannot be read: \(error.localizedDescription)")
        }
        // Foundation's XML parser stops the process at a name that is not.
        guard String(validating: data, as: UTF8.self) != nil else {
            throw SimulationError(.routeFile, "\(path): is not UTF-8: convert it, for example with iconv")
        }
        let points: [RoutePoint]
        switch data.first(where: { !" \t\r\n\u{FEFF}".utf8.contains($0) }) {
        case UInt8(ascii: "<"): points = try GPXReader.points(in: data, path: path)
        case UInt8(ascii: "{"): points = try geoJSON(data, path: path)
        default:
            throw SimulationError(.routeFile, "\(path): neither GPX (begins with <) nor GeoJSON (begins with {)")
        }
        do {
            return try Route(points: points, isClosed: isClosed)
        } catch {
            throw SimulationError(.routeFile, "\(path): \(error)")
        }
    }

    private static func geoJSON(_ data: Data, path: String) throws -> [RoutePoint] {
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: data)
        } catch {
            throw SimulationError(.routeFile, "\(path): no JSON: \(error.localizedDescription)")
        }
        guard let coordinates = lineString(in: object, depth: 0) else {
            throw SimulationError(.routeFile, "\(path): no LineString in it: a route is a geometry of that type")
        }
        return try coordinates.enumerated().map { index, element in
            guard let numbers = element as? [Double], numbers.count >= 2 else {
                throw SimulationError(
                    .routeFile,
                    "\(path): point \(index + 1) is not [longitude, latitude] or [longitude, latitude, altitude]")
            }
            return RoutePoint(
                position: Degrees(latitude: numbers[1], longitude: numbers[0]),
                altitude: numbers.count > 2 ? numbers[2] : nil)
        }
    }

    private static func lineString(in object: Any, depth: Int) -> [Any]? {
        guard depth < 8, let object = object as? [String: Any] else { return nil }
        if object["type"] as? String == "LineString" { return object["coordinates"] as? [Any] }
        let parts =
            [object["geometry"]].compactMap(\.self) + (object["features"] as? [Any] ?? [])
            + (object["geometries"] as? [Any] ?? [])
        for part in parts {
            if let found = lineString(in: part, depth: depth + 1) { return found }
        }
        return nil
    }
}

/// Gathers the points of a GPX file; everything else in it is passed over.
private final class GPXReader: NSObject, XMLParserDelegate {
    private let path: String
    private var track: [RoutePoint] = []
    private var route: [RoutePoint] = []
    /// The point being read, and the text of its `ele`.
    private var point: RoutePoint?
    private var elevation: String?
    /// Elements begun and not ended: a file that was cut short is told to the parser's user only by that.
    private var depth = 0
    private var failure: SimulationError?

    private init(path: String) {
        self.path = path
    }

    static func points(in data: Data, path: String) throws -> [RoutePoint] {
        let reader = GPXReader(path: path)
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        let isWhole = parser.parse()
        if let failure = reader.failure { throw failure }
        guard isWhole else {
            let reason = parser.parserError?.localizedDescription ?? "not well-formed"
            throw SimulationError(.routeFile, "\(path), line \(parser.lineNumber): no XML: \(reason)")
        }
        guard reader.depth == 0 else {
            throw SimulationError(.routeFile, "\(path), line \(parser.lineNumber): no XML: it ends within an element")
        }
        let points = reader.track.isEmpty ? reader.route : reader.track
        guard !points.isEmpty else {
            throw SimulationError(.routeFile, "\(path): no trkpt and no rtept in it: a route needs at least two")
        }
        return points
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        depth += 1
        switch name {
        case "trkpt", "rtept":
            guard let latitude = attributes["lat"].flatMap(Double.init),
                let longitude = attributes["lon"].flatMap(Double.init)
            else {
                fail(
                    parser,
                    "\(name) lat=\"\(attributes["lat"] ?? "")\" lon=\"\(attributes["lon"] ?? "")\": numbers are needed")
                return
            }
            point = RoutePoint(position: Degrees(latitude: latitude, longitude: longitude))
        case "ele":
            if point != nil { elevation = "" }
        default: break
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        // An elevation is a dozen characters; more is not gathered.
        if let gathered = elevation, gathered.utf8.count < 64 { elevation = gathered + text.prefix(64) }
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        depth -= 1
        switch name {
        case "ele":
            guard let text = elevation?.trimmingCharacters(in: .whitespacesAndNewlines) else { return }
            elevation = nil
            guard let altitude = Double(text) else {
                fail(parser, "ele \"\(text)\": a number of metres is needed")
                return
            }
            point?.altitude = altitude
        case "trkpt", "rtept":
            guard let point else { return }
            self.point = nil
            if name == "trkpt" { track.append(point) } else { route.append(point) }
        default: break
        }
    }

    private func fail(_ parser: XMLParser, _ detail: String) {
        failure = failure ?? SimulationError(.routeFile, "\(path), line \(parser.lineNumber): \(detail)")
        parser.abortParsing()
    }
}
