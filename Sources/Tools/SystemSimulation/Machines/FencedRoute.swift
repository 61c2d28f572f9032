internal import Geodesy
internal import Glibc
internal import TrackTestKit

/// Where a vehicle really is that drives among fences: from place to place, past some edges, and parked inside, outside and
/// beside an edge.
///
/// The places lie around ``centre``; the fences of a history are drawn around them.
struct FencedRoute {
    private var dice: DiskDice
    let centre: Degrees
    /// Metres north and east of the centre.
    private var north = 0.0
    private var east = 0.0
    /// Where it drives to, and perhaps parks.
    private(set) var target = (north: 0.0, east: 0.0)
    private var newest: Int64?
    /// m/s
    private(set) var speed = 10.0
    /// Milliseconds for which the vehicle still stands.
    private var standing: Int64 = 0

    /// Metres of a degree of latitude, near enough.
    private static let metres = 111_000.0

    init(seed: UInt64) {
        dice = DiskDice(seed: seed)
        centre = Degrees(
            latitude: Double.random(in: -55...55, using: &dice), longitude: Double.random(in: -170...170, using: &dice))
        next()
    }

    var isStanding: Bool { standing > 0 }

    /// Where the vehicle is at a time, milliseconds since 1970, later than the last one. It drives also while nobody looks.
    mutating func advance(to time: Int64) -> Degrees {
        var left = min(7_200_000, time - (newest ?? time))
        newest = time
        while left > 0 {
            step(min(left, 1000))
            left -= 1000
        }
        return degrees(north: north, east: east)
    }

    private mutating func step(_ span: Int64) {
        guard standing <= 0 else { return standing -= span }
        let (toNorth, toEast) = (target.north - north, target.east - east)
        let distance = (toNorth * toNorth + toEast * toEast).squareRoot()
        let step = speed * Double(span) / 1000
        guard distance > step else {
            (north, east) = target
            return arrive()
        }
        north += toNorth / distance * step
        east += toEast / distance * step
    }

    private mutating func arrive() {
        // Shorter than a stay that a fence tells, longer, or none.
        if !dice.one(in: 3) { standing = Int64.random(in: 1...(dice.one(in: 4) ? 400 : 60), using: &dice) * 1000 }
        next()
    }

    private mutating func next() {
        target = (
            Double.random(in: -Self.reach...Self.reach, using: &dice),
            Double.random(in: -Self.reach...Self.reach, using: &dice)
        )
        speed = Double.random(in: 2...(dice.one(in: 3) ? 40 : 15), using: &dice)
    }

    /// Metres from the centre, north and east, within which the vehicle drives.
    static let reach = 600.0

    func degrees(north: Double, east: Double) -> Degrees {
        Degrees(
            latitude: centre.latitude + north / Self.metres,
            longitude: centre.longitude + east / (Self.metres * cos(centre.latitude * .pi / 180)))
    }
}
