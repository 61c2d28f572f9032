package import SQLDatabase
import Synchronization
package import TrackModel
import TrackStore

/// The cells of the entities that one transaction moves. The store remembers them when the transaction is committed, so most
/// batches neither read nor write a cell.
package struct PlaceCells {
    private let database: any SQLConnection
    private let state: RecordState
    private let update: any SQLStatement
    private let selection: any SQLStatement
    private var moved: [Int64: Int64] = [:]

    package init(_ database: any SQLConnection, _ state: RecordState) throws {
        self.database = database
        self.state = state
        // A statement of its own: SQLite writes the index of cells whenever a statement names its column. A point that is not
        // the latest changes nothing.
        update = try database.statement(
            "UPDATE state SET cell = ?1 WHERE entity = ?2 AND time = ?3 AND cell IS NOT ?1")
        selection = try database.statement("SELECT cell FROM state WHERE entity = ?")
    }

    /// Call it when the latest point of a batch is stored.
    package mutating func put(_ entity: Int64, at point: TrackPoint) throws {
        let cell = PlaceCell.number(of: point)
        let known = moved[entity] ?? state.known.withLock { $0.cells[entity] }
        guard known != cell else { return }
        try update.execute([cell, entity, point.fix.time.milliseconds])
        if database.changes > 0 {
            moved[entity] = cell
        } else if known == nil {
            // It has this cell already, or another point is the latest one.
            moved[entity] = try selection.value(Int64.self, [entity])
        }
    }

    /// Call it before the transaction ends.
    package func save() {
        guard !moved.isEmpty else { return }
        database.afterCommit { [state, moved] in state.known.withLock { $0.remember(cells: moved) } }
    }
}

/// The square of a fixed grid in which a latest position is, in WGS 84: 131,072 units of 1e-7 degree on each side, 1.46 km
/// from south to north.
///
/// An entity's row changes its cell only when the entity leaves the cell. So most batches leave the index of cells alone.
package enum PlaceCell {
    private static let bits: Int64 = 17
    /// Columns are counted from 180 degrees west, 27,466 of them; rows from the south pole.
    static let columnBits: Int64 = 15

    package static func number(of place: Coordinate) -> Int64 {
        row(place.latitudeE7) << columnBits | column(place.longitudeE7)
    }

    package static func number(of point: TrackPoint) -> Int64 { number(of: KnownPlace(point).wgs84) }

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
    package init?(storedLatitude latitude: Int64?, longitude: Int64?) {
        guard let latitude = latitude.flatMap({ Int32(exactly: $0) }),
            let longitude = longitude.flatMap({ Int32(exactly: $0) })
        else { return nil }
        self.init(latitudeE7: latitude, longitudeE7: longitude)
    }
}

extension CoordinateType {
    /// As the file keeps it.
    package var number: Int {
        switch self {
        case .wgs84: 0
        case .gcj02: 1
        case .bd09ll: 2
        }
    }

    package init?(number: Int) {
        guard let type = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = type
    }
}
