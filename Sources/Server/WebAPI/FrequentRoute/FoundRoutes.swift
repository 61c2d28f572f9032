import JSON
import TrackAnalysis
import TrackModel
import TrackStore

/// The routes of a job, as they are kept until somebody asks for them: in the datums of the points, so that any other can be
/// answered.
struct FoundRoutes: Hashable, Sendable {
    struct Route: Hashable, Sendable {
        /// How many trips went this way.
        let trips: Int
        /// Metres, and seconds, of the trip that stands for the route.
        let distance: Double
        let duration: Int64
        let departures: FrequentRoute.DayTimes
        let arrivals: FrequentRoute.DayTimes
        /// Of that trip.
        let points: [Point]
    }

    struct Point: Hashable, Sendable {
        let point: TrackPoint
        /// `_supplement` of the answer: what added the point; nil for a point of the track.
        let supplement: Int64?
    }

    /// Of the whole range.
    let trips: Int
    /// Those of most trips first.
    let routes: [Route]
    /// Routes of the fewest trips that are not among them.
    let leftOut: Int
    /// Where the store could not read points.
    let holes: [TrackHole]

    // MARK: The answer

    /// The member `data`.
    func write(_ writer: PointWriter, to answer: inout JSONWriter) {
        answer.object("data") { data in
            data.member("total", routes.count)
            data.array("routes") { list in
                for route in routes { list.object { write(route, writer, to: &$0) } }
            }
        }
        answer.member("trip_num", trips)
        if leftOut > 0 { answer.member("left_out", leftOut) }
        holes.write(to: &answer)
    }

    private func write(_ route: Route, _ writer: PointWriter, to object: inout JSONWriter) {
        object.name("frequency")
        object.rounded(trips > 0 ? Double(route.trips) / Double(trips) : 0, digits: 2)
        object.member("trip_num", route.trips)
        object.name("distance")
        object.rounded(route.distance, digits: 2)
        object.member("duration", route.duration)
        object.name("average_speed")
        object.rounded(route.duration > 0 ? route.distance / Double(route.duration) * 3.6 : 0, digits: 2)
        object.member("start_time_range", Self.text(route.departures))
        object.member("end_time_range", Self.text(route.arrivals))
        for (name, point) in [("start_point", route.points.first), ("end_point", route.points.last)] {
            guard let point else { continue }
            object.object(name) { writer.writePosition(of: point.point, to: &$0) }
        }
        object.array("points") { list in
            for point in route.points {
                list.object {
                    writer.write(point.point, to: &$0)
                    if let supplement = point.supplement { $0.member("_supplement", supplement) }
                }
            }
        }
    }

    /// As the published service writes it: `07:08:51,13:32:52`.
    static func text(_ times: FrequentRoute.DayTimes) -> String {
        "\(text(times.earliest)),\(text(times.latest))"
    }

    private static func text(_ second: Int64) -> String {
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
    }

    // MARK: As bytes

    private static let rules = JSONRules(
        maximumBytes: 16 << 20, maximumDepth: 8, maximumValues: 1 << 20, repeatedMembers: .lastCounts,
        largeIntegers: .doubles)

    var encoded: [UInt8] {
        var json = JSONWriter()
        json.object { object in
            object.member("trips", trips)
            object.member("left_out", leftOut)
            object.array("routes") { list in for route in routes { list.object { Self.write(route, to: &$0) } } }
            object.array("holes") { list in
                for hole in holes {
                    list.object {
                        $0.member("from", hole.from.milliseconds)
                        $0.member("through", hole.through.milliseconds)
                        $0.member("count", hole.count)
                    }
                }
            }
        }
        return json.bytes
    }

    private static func write(_ route: Route, to object: inout JSONWriter) {
        object.member("trips", route.trips)
        object.member("distance", route.distance)
        object.member("duration", route.duration)
        object.array("times") { list in
            for times in [route.departures, route.arrivals] {
                list.integer(times.earliest)
                list.integer(times.latest)
            }
        }
        object.array("points") { list in
            for point in route.points {
                let (fix, type) = (point.point.fix, point.point.coordinateType)
                list.object {
                    $0.member("time", fix.time.milliseconds)
                    $0.array("at") {
                        $0.integer(Int64(fix.coordinate.latitudeE7))
                        $0.integer(Int64(fix.coordinate.longitudeE7))
                    }
                    if type != .wgs84 { $0.member("datum", type.rawValue) }
                    if let speed = fix.speed { $0.member("speed", Int64(speed)) }
                    if let course = fix.course { $0.member("course", Int64(course)) }
                    if let altitude = fix.altitude { $0.member("height", Int64(altitude)) }
                    if let supplement = point.supplement { $0.member("added", supplement) }
                }
            }
        }
    }

    /// Throws the API's failure for bytes that no version of this program wrote.
    init(encoded bytes: [UInt8]) throws(APIFailure) {
        guard let json = try? JSONReader.value(of: bytes, Self.rules), let trips = json["trips"]?.integerValue,
            let leftOut = json["left_out"]?.integerValue, let list = json["routes"]?.arrayValue
        else { throw Self.unreadable }
        var routes: [Route] = []
        for route in list { routes.append(try Self.route(route)) }
        self.init(
            trips: Int(clamping: trips), routes: routes, leftOut: Int(clamping: leftOut),
            holes: (json["holes"]?.arrayValue ?? []).compactMap { hole in
                guard let from = hole["from"]?.integerValue, let through = hole["through"]?.integerValue,
                    let count = hole["count"]?.integerValue
                else { return nil }
                return TrackHole(
                    from: Timestamp(milliseconds: from), through: Timestamp(milliseconds: through),
                    count: Int(clamping: count), reason: "")
            })
    }

    init(trips: Int, routes: [Route], leftOut: Int, holes: [TrackHole]) {
        (self.trips, self.routes, self.leftOut, self.holes) = (trips, routes, leftOut, holes)
    }

    private static let unreadable = APIFailure(
        .internalError, "the routes cannot be read: call frequentroute/createjob again in an hour")

    private static func route(_ json: JSONValue) throws(APIFailure) -> Route {
        let times = json["times"]?.arrayValue?.compactMap(\.integerValue) ?? []
        guard let trips = json["trips"]?.integerValue, let distance = json["distance"]?.doubleValue,
            let duration = json["duration"]?.integerValue, times.count == 4, let list = json["points"]?.arrayValue
        else { throw unreadable }
        var points: [Point] = []
        points.reserveCapacity(list.count)
        for point in list { points.append(try Self.point(point)) }
        return Route(
            trips: Int(clamping: trips), distance: distance, duration: duration,
            departures: FrequentRoute.DayTimes(earliest: times[0], latest: times[1]),
            arrivals: FrequentRoute.DayTimes(earliest: times[2], latest: times[3]), points: points)
    }

    private static func point(_ json: JSONValue) throws(APIFailure) -> Point {
        let at = json["at"]?.arrayValue?.compactMap(\.integerValue) ?? []
        guard at.count == 2, let time = json["time"]?.integerValue,
            let place = Coordinate(latitudeE7: Int32(clamping: at[0]), longitudeE7: Int32(clamping: at[1]))
        else { throw unreadable }
        func number(_ name: String) -> Int32? { json[name]?.integerValue.map { Int32(clamping: $0) } }
        var fix = Fix(time: Timestamp(milliseconds: time), coordinate: place)
        (fix.speed, fix.course, fix.altitude) = (number("speed"), number("course"), number("height"))
        let type = json["datum"]?.stringValue.flatMap(CoordinateType.init(rawValue:)) ?? .wgs84
        return Point(point: TrackPoint(fix, coordinateType: type), supplement: json["added"]?.integerValue)
    }
}
