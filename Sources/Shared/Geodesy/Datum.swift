internal import Glibc
package import TrackModel

/// A place in degrees, north and east positive. The owner knows the datum.
///
/// Latitudes should be within -90...90 and longitudes within -180...180. No function here traps on other values.
package struct Degrees: Hashable, Sendable {
    package var latitude: Double
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// The three datums of positions on Chinese maps.
package enum Datum: Hashable, Sendable, CaseIterable {
    /// WGS 84, the datum of GNSS receivers.
    case wgs84
    /// GCJ-02: WGS 84 with an offset of some hundred metres inside China; equal to WGS 84 elsewhere.
    case gcj02
    /// BD-09 latitude and longitude: GCJ-02 with a further offset of about a kilometre, everywhere.
    case bd09
}

/// Conversions between WGS 84, GCJ-02 and BD-09.
///
/// The true formulas are a state secret. These are the formulas that the community has published since 2010; maps agree
/// with them to about one metre. The inverses are exact: the inverse followed by the forward conversion returns the
/// same place within a millimetre.
package enum DatumConversion {
    /// Whether GCJ-02 differs from WGS 84 here: China with Hong Kong, Macao and Taiwan, to about 2 km at land borders
    /// and 0.2 degree out to sea. Degrees are WGS 84.
    package static func isInChina(latitude: Double, longitude: Double) -> Bool {
        ChinaRegion.contains(latitude: latitude, longitude: longitude)
    }

    /// The same place in another datum. Numbers that are not finite come back unchanged.
    ///
    /// At the edge of China the offset begins at once. So a place just outside and a place some hundred metres inside
    /// can have the same GCJ-02 degrees. The inverse then returns the place inside. So the inverse followed by the
    /// forward conversion is exact for every result of a conversion from WGS 84, and the forward conversion followed by
    /// the inverse is exact for every place inside.
    package static func convert(_ place: Degrees, from source: Datum, to target: Datum) -> Degrees {
        switch (source, target) {
        case (.wgs84, .wgs84), (.gcj02, .gcj02), (.bd09, .bd09): place
        case (.wgs84, .gcj02): gcj02(fromWGS84: place)
        case (.wgs84, .bd09): bd09(fromGCJ02: gcj02(fromWGS84: place))
        case (.gcj02, .wgs84): wgs84(fromGCJ02: place)
        case (.gcj02, .bd09): bd09(fromGCJ02: place)
        case (.bd09, .gcj02): gcj02(fromBD09: place)
        case (.bd09, .wgs84): wgs84(fromGCJ02: gcj02(fromBD09: place))
        }
    }

    // MARK: WGS 84 and GCJ-02

    private static func gcj02(fromWGS84 place: Degrees) -> Degrees {
        guard isInChina(latitude: place.latitude, longitude: place.longitude) else { return place }
        return shifted(place)
    }

    private static func wgs84(fromGCJ02 place: Degrees) -> Degrees {
        // No place far from China was shifted. This also keeps numbers that are not finite out of the iteration.
        guard (16...56).contains(place.latitude), (71...138).contains(place.longitude) else { return place }
        let candidate = inverse(of: place, through: shifted)
        // The place of the result decides, because the forward conversion decides by its starting place.
        return isInChina(latitude: candidate.latitude, longitude: candidate.longitude) ? candidate : place
    }

    /// The offset, wherever the place is: smooth, below 1.2 km, on the Krasovsky 1940 ellipsoid.
    private static func shifted(_ place: Degrees) -> Degrees {
        let semiMajorAxis = 6_378_245.0
        let eccentricitySquared = 0.006_693_421_622_965_943_23
        let (x, y) = (place.longitude - 105, place.latitude - 35)
        let short = (20 * sin(6 * x * .pi) + 20 * sin(2 * x * .pi)) * 2 / 3
        let root = x.magnitude.squareRoot()
        let northTerms = (20 * sin(y * .pi) + 40 * sin(y / 3 * .pi)) * 2 / 3
        let northLong = (160 * sin(y / 12 * .pi) + 320 * sin(y * .pi / 30)) * 2 / 3
        let north = -100 + 2 * x + 3 * y + 0.2 * y * y + 0.1 * x * y + 0.2 * root + short + northTerms + northLong
        let eastTerms = (20 * sin(x * .pi) + 40 * sin(x / 3 * .pi)) * 2 / 3
        let eastLong = (150 * sin(x / 12 * .pi) + 300 * sin(x / 30 * .pi)) * 2 / 3
        let east = 300 + x + 2 * y + 0.1 * x * x + 0.1 * x * y + 0.1 * root + short + eastTerms + eastLong
        // Converts metres to degrees with the ellipsoid's radii of curvature.
        let latitude = place.latitude * .pi / 180
        let magic = 1 - eccentricitySquared * sin(latitude) * sin(latitude)
        let meridian = semiMajorAxis * (1 - eccentricitySquared) / (magic * magic.squareRoot())
        let parallel = semiMajorAxis / magic.squareRoot() * cos(latitude)
        return Degrees(
            latitude: place.latitude + north / meridian * 180 / .pi,
            longitude: place.longitude + east / parallel * 180 / .pi)
    }

    // MARK: GCJ-02 and BD-09

    private static func bd09(fromGCJ02 place: Degrees) -> Degrees {
        let factor = Double.pi * 3000 / 180
        let (x, y) = (place.longitude, place.latitude)
        let radius = (x * x + y * y).squareRoot() + 0.000_02 * sin(y * factor)
        let angle = atan2(y, x) + 0.000_003 * cos(x * factor)
        return Degrees(latitude: radius * sin(angle) + 0.006, longitude: radius * cos(angle) + 0.0065)
    }

    private static func gcj02(fromBD09 place: Degrees) -> Degrees {
        guard place.latitude.isFinite, place.longitude.isFinite else { return place }
        return inverse(of: place, through: bd09)
    }

    /// The place that `forward` maps to `target`. Both mappings are the identity plus a small smooth offset. So each
    /// step of the iteration leaves less than a hundredth of the error, and after four steps a double cannot show the
    /// rest.
    private static func inverse(of target: Degrees, through forward: (Degrees) -> Degrees) -> Degrees {
        var place = target
        for _ in 0..<10 {
            let mapped = forward(place)
            let (latitude, longitude) = (mapped.latitude - target.latitude, mapped.longitude - target.longitude)
            place.latitude -= latitude
            place.longitude -= longitude
            // A hundredth of a millimetre.
            if max(latitude.magnitude, longitude.magnitude) < 1e-10 { break }
        }
        return place
    }
}

extension DatumConversion {
    /// A place whose numbers were given in a datum, in WGS 84. Outside China there is no other datum: there the numbers are
    /// WGS 84 whatever they were called, and they come back as they are.
    package static func wgs84(_ given: Degrees, givenAs datum: Datum) -> (place: Degrees, isInChina: Bool) {
        let converted = convert(given, from: datum, to: .wgs84)
        let isInside = isInChina(latitude: converted.latitude, longitude: converted.longitude)
        return (isInside ? converted : given, isInside)
    }
}

extension CoordinateType {
    /// What the Web API's name stands for.
    package var datum: Datum {
        switch self {
        case .wgs84: .wgs84
        case .gcj02: .gcj02
        case .bd09ll: .bd09
        }
    }
}

/// Where the offset of GCJ-02 applies. ``ChinaOutline`` has the source and the tolerance of the outline.
enum ChinaRegion {
    /// True inside the outline. A place on an edge counts as inside or outside, always in the same way.
    static func contains(latitude: Double, longitude: Double) -> Bool {
        // Not a number, or far away.
        guard (17...55).contains(latitude), (72...137).contains(longitude) else { return false }
        let (y, x) = (latitude * 1000, longitude * 1000)
        // Even-odd rule: from a place inside, a ray to the east crosses the outline an odd number of times.
        var isInside = false
        for edge in bands[Int((latitude - 17) * bandsPerDegree)] where (edge.y0 > y) != (edge.y1 > y) {
            let crossing = edge.x0 + (y - edge.y0) / (edge.y1 - edge.y0) * (edge.x1 - edge.x0)
            if x < crossing { isInside.toggle() }
        }
        return isInside
    }

    private struct Edge {
        let y0, x0, y1, x1: Double
    }

    private static let bandsPerDegree = 4.0

    /// The edges that touch each band of latitude, from 17 degrees on. A query looks at about fifty edges.
    private static let bands: [[Edge]] = {
        let count = Int((55.0 - 17.0) * bandsPerDegree) + 1
        var bands: [[Edge]] = Array(repeating: [], count: count)
        for ring in ChinaOutline.rings {
            var previous = (y: Double(ring[ring.count - 2]), x: Double(ring[ring.count - 1]))
            for index in stride(from: 0, to: ring.count - 1, by: 2) {
                let vertex = (y: Double(ring[index]), x: Double(ring[index + 1]))
                let edge = Edge(y0: previous.y, x0: previous.x, y1: vertex.y, x1: vertex.x)
                previous = vertex
                let low = Int((min(edge.y0, edge.y1) / 1000 - 17) * bandsPerDegree)
                let high = Int((max(edge.y0, edge.y1) / 1000 - 17) * bandsPerDegree)
                for band in max(low, 0)...min(high, count - 1) { bands[band].append(edge) }
            }
        }
        return bands
    }()
}
