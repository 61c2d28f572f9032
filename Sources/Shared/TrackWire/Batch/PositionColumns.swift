import TrackModel

/// Latitudes and longitudes, each as the error of a ``PositionPrediction``.
enum PositionColumns {
    /// `speeds` and `courses` hold ``ColumnReader/absent`` for unknown values. `intervals` has one entry fewer than the
    /// other arrays.
    static func write(
        _ points: [TrackPoint], intervals: [Int64], speeds: [Int64], courses: [Int64], to columns: inout ColumnWriter
    ) {
        let latitudes = points.map { Int64($0.fix.coordinate.latitudeE7) }
        let longitudes = points.map { Int64($0.fix.coordinate.longitudeE7) }
        guard let latitude = latitudes.first, let longitude = longitudes.first else { return }
        columns.bits.write(UInt64(latitude + 900_000_000), bits: 31)
        columns.bits.write(UInt64(longitude + 1_800_000_000), bits: 32)
        guard points.count > 1 else { return }
        let vectors = zip(speeds, courses).map { GroundVector(speed: $0, course: $1) }

        var best: (prediction: PositionPrediction, errors: Errors)?
        for velocity in PositionPrediction.Velocity.allCases {
            let raw = errors(
                of: PositionPrediction(velocity: velocity, feedback: 0), latitudes: latitudes, longitudes: longitudes,
                intervals: intervals, vectors: vectors)
            for candidate in PositionPrediction.candidates where candidate.velocity == velocity {
                let errors = raw.afterFeedback(of: candidate)
                if errors.cost < best?.errors.cost ?? .max { best = (candidate, errors) }
            }
        }
        guard let best else { return }
        columns.bits.write(best.prediction.velocity.rawValue, bits: 2)
        columns.bits.write(UInt64(best.prediction.feedback), bits: 3)
        columns.series(best.errors.latitudes, initialOrder: ColumnShape.positionOrder)
        columns.series(best.errors.longitudes, initialOrder: ColumnShape.positionOrder)
    }

    static func read(
        rows: Int, intervals: [Int64], speeds: [Int64], courses: [Int64], from columns: inout ColumnReader
    ) throws(WireError) -> [Coordinate] {
        guard rows > 0 else { return [] }
        var latitude = Int64(columns.bits.read(bits: 31)) - 900_000_000
        var longitude = Int64(columns.bits.read(bits: 32)) - 1_800_000_000
        var coordinates: [Coordinate] = []
        coordinates.reserveCapacity(rows)
        coordinates.append(try coordinate(latitude, longitude))
        guard rows > 1 else { return coordinates }

        let velocity = PositionPrediction.Velocity(rawValue: columns.bits.read(bits: 2))
        let feedback = Int64(columns.bits.read(bits: 3))
        guard let velocity, feedback <= 4 else { throw ColumnReader.malformed("position") }
        let prediction = PositionPrediction(velocity: velocity, feedback: feedback)
        var latitudes = [Int64](repeating: 0, count: rows - 1)
        var longitudes = latitudes
        columns.series(into: &latitudes, from: 0, initialOrder: ColumnShape.positionOrder)
        columns.series(into: &longitudes, from: 0, initialOrder: ColumnShape.positionOrder)
        guard !columns.bits.hasFailed else { throw ColumnReader.malformed("position") }

        let vectors = (0..<rows).map { GroundVector(speed: speeds[$0], course: courses[$0]) }
        var last: (latitude: Int64, longitude: Int64) = (0, 0)
        for row in 1..<rows {
            let moved = prediction.displacement(to: row, intervals: intervals, vectors: vectors, latitude: latitude)
            last.latitude = prediction.expected(after: last.latitude) &+ latitudes[row - 1]
            last.longitude = prediction.expected(after: last.longitude) &+ longitudes[row - 1]
            latitude = latitude &+ moved.latitude &+ last.latitude
            longitude = longitude &+ moved.longitude &+ last.longitude
            coordinates.append(try coordinate(latitude, longitude))
        }
        return coordinates
    }

    private static func coordinate(_ latitude: Int64, _ longitude: Int64) throws(WireError) -> Coordinate {
        guard let north = Int32(exactly: latitude), let east = Int32(exactly: longitude),
            let coordinate = Coordinate(latitudeE7: north, longitudeE7: east)
        else { throw ColumnReader.malformed("position") }
        return coordinate
    }

    private struct Errors {
        var latitudes: [Int64]
        var longitudes: [Int64]

        /// An estimate of the bits of their codes.
        var cost: Int {
            (latitudes + longitudes).reduce(0) { $0 + 64 - zigzag($1).leadingZeroBitCount }
        }

        func afterFeedback(of prediction: PositionPrediction) -> Errors {
            Errors(
                latitudes: Self.remaining(latitudes, prediction), longitudes: Self.remaining(longitudes, prediction))
        }

        private static func remaining(_ errors: [Int64], _ prediction: PositionPrediction) -> [Int64] {
            var last: Int64 = 0
            return errors.map { error in
                defer { last = error }
                return error &- prediction.expected(after: last)
            }
        }
    }

    private static func errors(
        of prediction: PositionPrediction, latitudes: [Int64], longitudes: [Int64], intervals: [Int64],
        vectors: [GroundVector]
    ) -> Errors {
        var errors = Errors(latitudes: [], longitudes: [])
        errors.latitudes.reserveCapacity(intervals.count)
        errors.longitudes.reserveCapacity(intervals.count)
        for row in 1..<latitudes.count {
            let moved = prediction.displacement(
                to: row, intervals: intervals, vectors: vectors, latitude: latitudes[row - 1])
            errors.latitudes.append(latitudes[row] - latitudes[row - 1] - moved.latitude)
            errors.longitudes.append(longitudes[row] - longitudes[row - 1] - moved.longitude)
        }
        return errors
    }
}
