package import TrackModel

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
