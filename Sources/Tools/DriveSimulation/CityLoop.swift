internal import Geodesy

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
