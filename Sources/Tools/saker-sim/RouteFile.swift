internal import DriveSimulation
internal import Geodesy
internal import TrackFiles

/// Reads routes from GPX 1.x (`trkpt`, otherwise `rtept`) and GeoJSON (the first LineString; RFC 7946).
enum RouteFile {
    static func read(_ path: String, isClosed: Bool) throws -> Route {
        do {
            let points = try TrackFileReader.route(ByteSource(path: path), limit: Route.mostPoints).map(routePoint)
            return try Route(points: points, isClosed: isClosed)
        } catch let error as TrackFileError {
            throw SimulationError(.routeFile, "\(path): \(error)")
        } catch let error as RouteError {
            throw SimulationError(.routeFile, "\(path): \(error)")
        }
    }

    private static func routePoint(_ point: FilePoint) throws(TrackFileError) -> RoutePoint {
        func number(_ field: FilePoint.Field) -> Double? { point.fields[field].flatMap { FileNumber.value($0) } }
        guard let latitude = number(.latitude), let longitude = number(.longitude) else {
            throw TrackFileError("\(point.place): latitude and longitude must be numbers")
        }
        return RoutePoint(
            position: Degrees(latitude: latitude, longitude: longitude),
            altitude: point.fields[.altitude].flatMap { FileNumber.height($0) })
    }
}

/// Why a simulation cannot run. The text names the value and the rule.
struct SimulationError: Error, CustomStringConvertible {
    enum Code {
        case routeFile
        case network
        case truthFile
    }

    let code: Code
    let description: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        description = detail
    }
}
