package import Geodesy
internal import Glibc

/// One point of a route.
package struct RoutePoint: Hashable, Sendable {
    package var position: Degrees
    /// Metres above mean sea level; nil lets the simulation make up low hills.
    package var altitude: Double?

    package init(position: Degrees, altitude: Double? = nil) {
        self.position = position
        self.altitude = altitude
    }
}

/// Why points cannot be a route.
package struct RouteError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case tooFewPoints
        case tooManyPoints
        /// A coordinate or an altitude that does not exist.
        case impossiblePoint
        /// Two neighbours that are too far apart to drive between.
        case gap
    }

    package let code: Code
    package let detail: String

    package var description: String { detail }
}

/// A route: straight lines between points, measured in metres from its start.
package struct Route: Hashable, Sendable {
    /// A point every 10 m for 2,000 km.
    package static let mostPoints = 200_000
    /// Longer than any straight road. A longer step means that a recording was interrupted.
    package static let longestLeg = 50_000.0
    /// Points that are closer together are noise of a recording, not corners.
    static let shortestLeg = 4.0

    struct Leg: Hashable, Sendable {
        /// From the start of the route to the start of the leg.
        let start: Double
        let length: Double
        let bearing: Double
        let from: RoutePoint
        let to: RoutePoint
        /// How much the direction changes at the leg's start, degrees, 0...180; 0 at the start of an open route.
        let turn: Double
    }

    let legs: [Leg]
    /// Metres.
    package let length: Double
    /// After its end the route begins again.
    package let isClosed: Bool

    /// A closed route leads from the last point back to the first point.
    package init(points: [RoutePoint], isClosed: Bool) throws(RouteError) {
        guard points.count <= Self.mostPoints else {
            throw RouteError(
                code: .tooManyPoints, detail: "\(points.count) points: at most \(Self.mostPoints) make a route")
        }
        var kept: [RoutePoint] = []
        for (index, point) in points.enumerated() {
            try Self.check(point, index)
            if let last = kept.last,
                GreatCircle.distance(from: last.position, to: point.position) < Self.shortestLeg
            {
                continue
            }
            kept.append(point)
        }
        if isClosed, let first = kept.first, let last = kept.last, kept.count > 1 {
            let closing = GreatCircle.distance(from: last.position, to: first.position)
            if closing < Self.shortestLeg { kept.removeLast() }
            kept.append(first)
        }
        guard kept.count >= (isClosed ? 3 : 2) else {
            throw RouteError(
                code: .tooFewPoints,
                detail: "\(points.count) points, \(kept.count) of them at least 4 m apart: a route needs 2, a loop 3")
        }
        legs = try Self.legs(between: kept, isClosed: isClosed)
        length = legs.reduce(0) { $0 + $1.length }
        self.isClosed = isClosed
    }

    private static func check(_ point: RoutePoint, _ index: Int) throws(RouteError) {
        let position = point.position
        guard (-85...85).contains(position.latitude), (-180...180).contains(position.longitude) else {
            throw RouteError(
                code: .impossiblePoint,
                detail: "point \(index + 1): latitude \(position.latitude), longitude \(position.longitude): "
                    + "latitude must be within -85...85 and longitude within -180...180")
        }
        guard (-500...9000).contains(point.altitude ?? 0) else {
            throw RouteError(
                code: .impossiblePoint,
                detail: "point \(index + 1): altitude \(point.altitude ?? 0) m: must be within -500...9000")
        }
    }

    private static func legs(between points: [RoutePoint], isClosed: Bool) throws(RouteError) -> [Leg] {
        var legs: [Leg] = []
        var start = 0.0
        let pairs = zip(points, points.dropFirst())
        let bearings = pairs.map { GreatCircle.bearing(from: $0.position, to: $1.position) }
        for (index, (from, to)) in pairs.enumerated() {
            let length = GreatCircle.distance(from: from.position, to: to.position)
            guard length <= longestLeg else {
                throw RouteError(
                    code: .gap,
                    detail: "point \(index + 1) of those kept is \(Int(length)) m from the next: at most "
                        + "\(Int(longestLeg)) m can be driven straight")
            }
            let before = index > 0 ? bearings[index - 1] : (isClosed ? bearings[bearings.count - 1] : bearings[0])
            let turn = abs(remainder(bearings[index] - before, 360))
            legs.append(Leg(start: start, length: length, bearing: bearings[index], from: from, to: to, turn: turn))
            start += length
        }
        return legs
    }

    /// The distance within the route after a driven distance. It wraps around a loop and stays at the end of an open
    /// route.
    package func place(of driven: Double) -> Double {
        if isClosed {
            let rest = driven.truncatingRemainder(dividingBy: length)
            return rest < 0 ? rest + length : rest
        }
        return min(max(driven, 0), length)
    }

    /// The position after so many metres.
    package func position(at driven: Double) -> Degrees {
        let place = place(of: driven)
        let leg = leg(at: place)
        return GreatCircle.destination(from: leg.from.position, bearing: leg.bearing, distance: place - leg.start)
    }

    /// Metres above mean sea level after so many metres: the altitude of the points, otherwise low hills.
    func altitude(at driven: Double) -> Double {
        let place = place(of: driven)
        let leg = leg(at: place)
        if let from = leg.from.altitude, let to = leg.to.altitude {
            return from + (to - from) * min(1, (place - leg.start) / leg.length)
        }
        // Whole waves along the route, so that a loop closes.
        let phase = 2 * Double.pi * place / length
        return 12 + 6 * sin(phase) + 2.5 * sin(3 * phase)
    }

    /// The direction of travel. It turns into corners as gradually as a vehicle of some metres' length.
    func course(at driven: Double) -> Double {
        let (behind, ahead) = (position(at: driven - 3), position(at: driven + 3))
        return GreatCircle.bearing(from: behind, to: ahead)
    }

    func leg(at place: Double) -> Leg {
        var (low, high) = (0, legs.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if legs[middle].start <= place { low = middle } else { high = middle - 1 }
        }
        return legs[low]
    }
}

extension Route {
    /// The built-in loop through The Hague: streets with right-angled corners, a long curve, and room for a tunnel.
    package static func cityLoop() throws(RouteError) -> Route {
        // Each leg is a direction and a length. The last leg closes the loop.
        let legs: [(bearing: Double, length: Double)] = [
            (40, 420), (130, 260), (40, 700), (52, 120), (66, 120), (82, 120), (98, 120), (114, 120), (130, 900),
            (220, 380), (310, 180), (220, 640), (130, 300), (220, 350), (235, 90), (255, 90), (275, 90), (295, 90),
            (310, 1100),
        ]
        var position = Degrees(latitude: 52.0705, longitude: 4.3007)
        var points = [RoutePoint(position: position)]
        for leg in legs {
            position = GreatCircle.destination(from: position, bearing: leg.bearing, distance: leg.length)
            points.append(RoutePoint(position: position))
        }
        return try Route(points: points, isClosed: true)
    }

    /// The tunnel of ``cityLoop()``, in metres from its start, on the leg of 900 m.
    package static let cityLoopTunnel: ClosedRange<Double> = 2100...2500
}
