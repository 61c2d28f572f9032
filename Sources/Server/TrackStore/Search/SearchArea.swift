package import Geodesy
package import TrackModel

/// Where entities are looked for.
package enum SearchArea: Hashable, Sendable {
    case box(SearchBox)
    /// Up to so many metres from a place in WGS 84.
    case around(Coordinate, radius: Double)
    case shape(Shape)

    /// Whether a place is inside; the boundary is.
    package func contains(_ place: KnownPlace) -> Bool {
        switch self {
        case .box(let box): box.contains(place)
        case .around(let centre, let radius): SurfaceDistance.between(centre, place.wgs84) <= radius
        case .shape(let shape): shape.contains(place.wgs84)
        }
    }

    /// Metres from the centre; nil for an area without a centre.
    package func distance(to place: KnownPlace) -> Double? {
        guard case .around(let centre, _) = self else { return nil }
        return SurfaceDistance.between(centre, place.wgs84)
    }

    /// Ranges that hold all places of the area; nil when no place is inside.
    package var extent: SearchExtent? {
        switch self {
        case .box(let box): box.extent
        // The metre is for rounding.
        case .around(let centre, let radius): SearchExtent(ShapeBox(from: centre, to: centre, grownBy: radius + 1))
        case .shape(let shape): shape.box(grownBy: 1).map { SearchExtent($0) }
        }
    }
}

extension SearchExtent {
    init(_ box: ShapeBox) {
        self.init(
            south: Int64(box.southE7), north: Int64(box.northE7), west: Int64(box.westE7), width: Int64(box.widthE7))
    }
}

/// A box of latitudes and longitudes in the datum of a client, perhaps across the antimeridian. Its edges belong to it.
package struct SearchBox: Hashable, Sendable {
    package let south: Int32
    package let north: Int32
    package let west: Int32
    /// Smaller than ``west`` for a box across the antimeridian.
    package let east: Int32
    package let type: CoordinateType

    /// Units of 1e-7 degree by which the numbers of a place in two datums differ at most, in China: 4 km.
    private static let datumDifference: Int64 = 500_000

    /// From the south-western corner to the north-eastern one, eastwards. Corners that were mixed up count as if they
    /// were not: the south is the smaller latitude. When the first longitude is greater than the second, the box is the
    /// narrower one of the two that have these edges.
    package init(from first: Coordinate, to second: Coordinate, type: CoordinateType) {
        self.type = type
        south = min(first.latitudeE7, second.latitudeE7)
        north = max(first.latitudeE7, second.latitudeE7)
        let isReversed = first.latitudeE7 > second.latitudeE7 && first.longitudeE7 > second.longitudeE7
        let (start, end) =
            isReversed ? (second.longitudeE7, first.longitudeE7) : (first.longitudeE7, second.longitudeE7)
        let isAcross = Int64(start) - Int64(end) > SearchExtent.turn / 2
        west = start <= end || isAcross ? start : end
        east = start <= end || isAcross ? end : start
    }

    package func contains(_ place: KnownPlace) -> Bool {
        let shown = place.shown(as: type)
        guard (south...north).contains(shown.latitudeE7) else { return false }
        let longitude = shown.longitudeE7
        guard west <= east else { return longitude >= west || longitude <= east }
        // 180 degrees east and west are one meridian.
        return (west...east).contains(longitude)
            || (longitude.magnitude == 1_800_000_000 && (west...east).contains(-longitude))
    }

    /// Every place of the box in WGS 84.
    package var extent: SearchExtent {
        let growth = type == .wgs84 ? 0 : Self.datumDifference
        let width = Int64(east) - Int64(west) + (west <= east ? 0 : SearchExtent.turn)
        return SearchExtent(
            south: Int64(south) - growth, north: Int64(north) + growth, west: Int64(west) - growth,
            width: width + 2 * growth)
    }
}

/// Ranges of latitudes and longitudes that hold all places of an area, in units of 1e-7 degree of WGS 84.
package struct SearchExtent: Hashable, Sendable {
    package let latitudes: ClosedRange<Int32>
    /// Within -180 ... 180 degrees, without a common part. The meridian at 180 degrees is in them under both its numbers.
    package let longitudes: [ClosedRange<Int32>]

    static let turn: Int64 = 3_600_000_000
    private static let half: Int64 = turn / 2

    /// Latitudes beyond the poles are cut off. `west` may be any number of turns away; `width` goes eastwards from there.
    init(south: Int64, north: Int64, west: Int64, width: Int64) {
        let low = min(max(south, -900_000_000), 900_000_000)
        latitudes = Int32(low)...Int32(min(max(north, low), 900_000_000))
        guard width < Self.turn else {
            longitudes = [Int32(-Self.half)...Int32(Self.half)]
            return
        }
        let turned = (west + Self.half) % Self.turn
        let start = (turned < 0 ? turned + Self.turn : turned) - Self.half
        let end = start + max(width, 0)
        if end >= Self.half {
            longitudes = [Int32(start)...Int32(Self.half), Int32(-Self.half)...Int32(end - Self.turn)]
        } else if start == -Self.half {
            longitudes = [Int32(start)...Int32(end), Int32(Self.half)...Int32(Self.half)]
        } else {
            longitudes = [Int32(start)...Int32(end)]
        }
    }
}

/// Where a point is, in the datum in which its numbers were given.
package struct KnownPlace: Hashable, Sendable {
    package let coordinate: Coordinate
    package let type: CoordinateType

    package init(_ coordinate: Coordinate, _ type: CoordinateType) {
        self.coordinate = coordinate
        self.type = type
    }

    package init(_ point: TrackPoint) {
        self.init(point.fix.coordinate, point.coordinateType)
    }

    /// In WGS 84, rounded to 1e-7 degree. Outside China the given numbers are WGS 84, whatever they were called.
    package var wgs84: Coordinate {
        guard type != .wgs84 else { return coordinate }
        let (place, _) = DatumConversion.wgs84(Degrees(coordinate), givenAs: type.datum)
        return Coordinate(latitude: place.latitude, longitude: place.longitude) ?? coordinate
    }

    /// As answers show it in a datum, rounded to 1e-7 degree. The given numbers come back in their own datum, and outside
    /// China in any.
    package func shown(as wanted: CoordinateType) -> Coordinate {
        guard wanted != type else { return coordinate }
        let given = Degrees(coordinate)
        guard DatumConversion.wgs84(given, givenAs: type.datum).isInChina else { return coordinate }
        let shown = DatumConversion.convert(given, from: type.datum, to: wanted.datum)
        return Coordinate(latitude: shown.latitude, longitude: shown.longitude) ?? coordinate
    }
}
