import TrackModel
import TrackStore

/// The square of a fixed grid in which a latest position is, in WGS 84: 131,072 units of 1e-7 degree on each side, 1.46 km
/// from south to north.
///
/// An entity's row changes its cell only when the entity leaves the cell. So most batches leave the index of cells alone.
enum PlaceCell {
    private static let bits: Int64 = 17
    /// Columns are counted from 180 degrees west, 27,466 of them; rows from the south pole.
    static let columnBits: Int64 = 15

    static func number(of place: Coordinate) -> Int64 {
        row(place.latitudeE7) << columnBits | column(place.longitudeE7)
    }

    static func number(of point: TrackPoint) -> Int64 { number(of: KnownPlace(point).wgs84) }

    /// The cells that an extent touches: rows, and for each row one or two ranges of columns without a common one.
    static func cells(
        of extent: SearchExtent
    ) -> (rows: ClosedRange<Int64>, columns: [ClosedRange<Int64>]) {
        let rows = row(extent.latitudes.lowerBound)...row(extent.latitudes.upperBound)
        let columns = extent.longitudes.map { column($0.lowerBound)...column($0.upperBound) }
        guard columns.count == 2, columns[0].overlaps(columns[1]) else { return (rows, columns) }
        return (rows, [0...(1 << columnBits - 1)])
    }

    private static func row(_ latitudeE7: Int32) -> Int64 { (Int64(latitudeE7) + 900_000_000) >> bits }

    private static func column(_ longitudeE7: Int32) -> Int64 { (Int64(longitudeE7) + 1_800_000_000) >> bits }
}

extension Coordinate {
    /// Of two columns; nil for numbers that are no place, which only a damaged file has.
    init?(storedLatitude latitude: Int64?, longitude: Int64?) {
        guard let latitude = latitude.flatMap({ Int32(exactly: $0) }),
            let longitude = longitude.flatMap({ Int32(exactly: $0) })
        else { return nil }
        self.init(latitudeE7: latitude, longitudeE7: longitude)
    }
}

extension CoordinateType {
    /// As the file keeps it.
    var number: Int {
        switch self {
        case .wgs84: 0
        case .gcj02: 1
        case .bd09ll: 2
        }
    }

    init?(number: Int) {
        guard let type = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = type
    }
}
