/// What the columns of a table are, by its first row.
struct CSVColumns {
    private static let maximumCount = 256

    enum Column: Equatable {
        /// `factor`: by what a number is multiplied to be in the unit of the field.
        case field(FilePoint.Field, factor: Double)
        /// The time, of a clock in UTC where it has no zone.
        case timeInUTC
        case attribute(String)
        /// The day to the time of day that stands in another column.
        case date
        /// It has no name: nobody could ask for its values.
        case unnamed
    }

    let columns: [Column]
    /// For people: what of the table is not read.
    let notes: [String]

    /// - Throws: for a table without time or place, with one of them twice, or in a unit that is not known.
    init(_ cells: [String], line: Int) throws(TrackFileError) {
        guard cells.count <= Self.maximumCount else {
            throw TrackFileError(line: line, "\(cells.count) columns: at most \(Self.maximumCount) are read")
        }
        let named = cells.map { FilePoint.Field.named(Self.unit(of: $0)?.name ?? $0) }
        var (columns, taken): ([Column], Set<String>) = ([], [])
        for (index, cell) in cells.enumerated() {
            var column = Column.attribute(cell)
            if cell.isEmpty {
                column = .unnamed
            } else if cell.lowercased() == "date" {
                column = .date
            } else if let (field, rank) = named[index] {
                let isBest = named.allSatisfy { $0.map { $0.field != field || $0.rank >= rank } ?? true }
                // Two times or two places may be two different things.
                if field == .time, let zone = Self.unit(of: cell)?.unit, ["utc", "gmt"].contains(zone) {
                    column = .timeInUTC
                } else if isBest || [.time, .latitude, .longitude].contains(field) {
                    column = .field(field, factor: try Self.factor(of: cell, for: field, line: line))
                }
            }
            let name =
                switch column {
                case .field(let field, _): field.rawValue
                case .timeInUTC: FilePoint.Field.time.rawValue
                case .attribute(let key): key
                case .date: "date"
                case .unnamed: ""
                }
            guard name.isEmpty || taken.insert(name).inserted else {
                throw TrackFileError(line: line, "two columns are named \(name): leave one of them out")
            }
            columns.append(column)
        }
        for needed in [FilePoint.Field.time, .latitude, .longitude] where !taken.contains(needed.rawValue) {
            throw TrackFileError(
                line: line,
                "no column is named \(needed.rawValue): the first line must name time, latitude and longitude")
        }
        self.columns = columns
        notes =
            columns.contains(.unnamed) ? ["a column without a name is not read: give it a name in line \(line)"] : []
    }

    /// `speed (km/h)` and `speed[km/h]` are a name and a unit; nil for a name without one.
    private static func unit(of cell: String) -> (name: String, unit: String)? {
        guard let last = cell.last, let bracket = [")": "(", "]": "["][last],
            let start = cell.firstIndex(of: Character(bracket))
        else { return nil }
        let name = cell[..<start].trimmedOfSpace
        return name.isEmpty ? nil : (name, cell[cell.index(after: start)...].dropLast().trimmedOfSpace.lowercased())
    }

    private static func factor(
        of cell: String, for field: FilePoint.Field, line: Int
    ) throws(TrackFileError) -> Double {
        guard let unit = unit(of: cell)?.unit else { return 1 }
        guard let factor = FileUnit.factor(of: unit, for: field) else {
            throw TrackFileError(
                line: line, "the unit of the column \(TrackFileError.quoted(cell)) is not known: convert its values")
        }
        return factor
    }
}

/// The units in which files say the fields of points.
enum FileUnit {
    /// By what a number in this unit, in small letters, is multiplied to be in that of the field: m/s, metres, degrees. Nil for
    /// another unit.
    static func factor(of unit: String, for field: FilePoint.Field) -> Double? {
        switch field {
        case .speed: speeds[unit]
        case .altitude, .accuracy: lengths[unit]
        case .latitude, .longitude, .course: ["°", "deg", "degree", "degrees"].contains(unit) ? 1 : nil
        case .time: unit == "local" ? 1 : nil
        case .objectName: nil
        }
    }

    private static let speeds: [String: Double] = [
        "m/s": 1, "mps": 1, "m s-1": 1, "km/h": 1 / 3.6, "kmh": 1 / 3.6, "kph": 1 / 3.6, "mph": 0.44704,
        "mi/h": 0.44704,
        "kn": 1852.0 / 3600, "kt": 1852.0 / 3600, "kts": 1852.0 / 3600, "knots": 1852.0 / 3600,
    ]
    private static let lengths: [String: Double] = [
        "m": 1, "metre": 1, "metres": 1, "meter": 1, "meters": 1, "km": 1000, "ft": 0.3048, "feet": 0.3048,
    ]

    /// The number of a text in the unit of its field; a text that is none stays as it is.
    static func converted(_ text: String, by factor: Double) -> String {
        factor == 1 ? text : FileNumber.value(text).map { String($0 * factor) } ?? text
    }
}
