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
