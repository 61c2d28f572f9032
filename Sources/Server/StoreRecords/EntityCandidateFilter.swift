import SQLDatabase
import TrackModel
import TrackStore

/// A search by place or by text: an index proposes entities, their rows decide.
struct EntityCandidateFilter {
    private let search: EntitySearch
    private let condition: EntityCondition
    private let service: ServiceID
    private let keyword: [UInt8]
    /// All that match, in the order in which they were met, or of the search after ``page(_:)``.
    private(set) var found: [EntityRank] = []
    /// The rows of all that were found by place, by their numbers: reading one again may mean reading the file again. Nil when
    /// they are too many, or when the search is by text alone, where most matches are on no page.
    private(set) var contents: [Int64: EntityContent]?
    private var contentBytes = 0

    /// Of ``contents``: some thousand usual entities.
    private static let mostContentBytes = 1 << 20

    init(_ search: EntitySearch, _ condition: EntityCondition, _ service: ServiceID) {
        self.search = search
        self.condition = condition
        self.service = service
        keyword = SearchText.folded(search.keyword)
        contents = search.area == nil ? nil : [:]
    }

    mutating func run(_ database: any SQLConnection) throws {
        if search.filter.names != nil {
            try scan("entity e" + EntityContent.joinLatest, where: "TRUE", [], Self.latest, database)
        } else if let area = search.area {
            guard let extent = area.extent else { return }
            try scan(extent, database)
        } else {
            let needsLatest = condition.readsLatest || search.order.key == .time
            try scan(
                EntityTexts.joinedEntities + (needsLatest ? EntityContent.joinLatest : ""),
                where: EntityTexts.matches, [EntityTexts.query(keyword, in: service)],
                needsLatest ? Self.latest : "NULL, NULL, NULL, NULL, NULL, NULL", database)
        }
    }

    /// The numbers of the rows of a page.
    mutating func page(_ page: Page) -> [Int64] {
        let order = search.order
        if order.key == .name, order.isDescending {
            found.sort { $1.name < $0.name }
        } else {
            found.sort { $0.precedes($1, isDescending: order.isDescending) }
        }
        let first = min(max(0, page.offset), found.count)
        let last = first + min(max(0, page.limit), found.count - first)
        return found[first..<last].map(\.entity)
    }

    // MARK: Candidates

    /// The columns of the latest position when `l` and `h` may both be there, or neither.
    private static let latest =
        EntityContent.latest
        + ", COALESCE(h.time, l.time), COALESCE(h.latitude, l.latitude), COALESCE(h.longitude, l.longitude), "
        + "COALESCE(h.datum, l.datum)"

    /// Candidates by the cells of their places, first of the points that are stored, then of hints.
    private mutating func scan(_ extent: SearchExtent, _ database: any SQLConnection) throws {
        let (rows, columns) = PlaceCell.cells(of: extent)
        // Most stores have no hint at most times.
        let hasHints = try database.value(Int.self, "SELECT 1 FROM hint LIMIT 1") != nil
        let inExtent = Self.inExtent(extent)
        let dialect = database.dialect
        let join = dialect.orderedJoin
        for range in columns {
            let bounds: [any SQLConvertible] = [
                rows.lowerBound, range.lowerBound, range.upperBound, service.rawValue, rows.upperBound,
            ]
            try scan(
                "line \(join) state l\(dialect.index("state_by_cell"))" + Self.inLine("l")
                    + " \(join) entity e ON e.id = l.entity"
                    + (hasHints ? " LEFT JOIN hint h ON h.entity = l.entity" : Self.noHint),
                where: Self.mayBeIn("l") + (hasHints ? " AND h.entity IS NULL" : ""), inExtent, lines: bounds,
                Self.latest(of: "l"), database)
            guard hasHints else { continue }
            try scan(
                "line \(join) hint h\(dialect.index("hint_by_cell"))" + Self.inLine("h")
                    + " \(join) entity e ON e.id = h.entity LEFT JOIN state l ON l.entity = h.entity",
                where: Self.mayBeIn("h"), inExtent, lines: bounds, Self.latest(of: "h"), database)
        }
    }

    private static func latest(of table: String) -> String {
        ["received", "payload", "time", "latitude", "longitude", "datum"].map { "\(table).\($0)" }
            .joined(separator: ", ")
    }

    /// Spares the row of the entity, which is elsewhere in the file, for a place in WGS 84 that is outside the extent. The
    /// numbers of another datum are not those of the extent.
    private static func mayBeIn(_ table: String) -> String {
        """
        (COALESCE(\(table).datum, 0) <> \(CoordinateType.wgs84.number) OR \(table).latitude BETWEEN ? AND ?
            AND (\(table).longitude BETWEEN ? AND ? OR \(table).longitude BETWEEN ? AND ?))
        """
    }

    /// What ``mayBeIn(_:)`` binds.
    private static func inExtent(_ extent: SearchExtent) -> [any SQLConvertible] {
        let ranges = [extent.latitudes] + extent.longitudes + extent.longitudes
        return ranges.prefix(3).flatMap { [$0.lowerBound, $0.upperBound] }
    }

    /// The rows of the grid: each is one range of cells.
    private static let lines = """
        WITH RECURSIVE line (row, west, east, service) AS (
            VALUES (?, ?, ?, ?) UNION ALL SELECT row + 1, west, east, service FROM line WHERE row < ?)

        """

    private static func inLine(_ table: String) -> String {
        """
         ON \(table).service = line.service AND \(table).cell BETWEEN (line.row << \(PlaceCell.columnBits)) + line.west
            AND (line.row << \(PlaceCell.columnBits)) + line.east
        """
    }

    /// Conditions name the columns of `h` in any case.
    private static let noHint = " LEFT JOIN (SELECT NULL AS entity, NULL AS time) h ON FALSE"

    private mutating func scan(
        _ source: String, where first: String, _ arguments: [any SQLConvertible],
        lines: [any SQLConvertible] = [], _ latest: String, _ database: any SQLConnection
    ) throws {
        var key = (sql: "NULL", arguments: [] as [any SQLConvertible])
        if case .value(let name) = search.order.key { key = (EntityCondition.value, [name]) }
        // Values are bound in the order in which the text names them.
        let sql =
            (lines.isEmpty ? "" : Self.lines)
            + "SELECT \(EntityContent.columns(latest: latest)), \(key.sql) FROM \(source) "
            + "WHERE \(first) AND \(condition.sql)"
        let statement =
            condition.isCommon ? try database.statement(sql) : try database.statement(sql)
        let all: SQLParameters = lines + key.arguments + arguments + condition.arguments
        try statement.forEach(all) { try take($0) }
    }

    // MARK: The decision

    private mutating func take(_ row: SQLRow) throws {
        var distance: Double?
        if let area = search.area {
            guard let place = try Self.place(row), area.contains(place) else { return }
            if search.order.key == .distance { distance = area.distance(to: place) }
        }
        let name: String = try row[1]
        if !keyword.isEmpty {
            let description: String = try row[2]
            guard
                SearchText.contains(SearchText.folded(name), keyword)
                    || SearchText.contains(SearchText.folded(description), keyword)
            else { return }
        }
        let key: EntityRank.Key? =
            switch search.order.key {
            case .name: nil
            case .description: try EntityRank.Key(row[2] as String)
            case .time: try (row[7] as Int64?).map { .number(Double($0)) }
            case .distance: distance.map { .number($0) }
            case .value: try (row[11] as String?).flatMap(EntityRank.Key.init)
            }
        try found.append(EntityRank(entity: row[0], key: key, name: EntityRank.Text(name)))
        guard contents != nil else { return }
        let content = try EntityContent(row)
        contentBytes += content.bytes
        if contentBytes <= Self.mostContentBytes {
            contents?[content.number] = content
        } else {
            contents = nil
        }
    }

    /// Of the latest position; nil for an entity without one.
    private static func place(_ row: SQLRow) throws -> KnownPlace? {
        guard let coordinate = try Coordinate(storedLatitude: row[8], longitude: row[9]) else { return nil }
        return try KnownPlace(coordinate, CoordinateType(number: row[10] ?? 0) ?? .wgs84)
    }
}
