internal import TrackModel

/// Reads the places of a shape from its datum. What is declared GCJ-02 or BD-09 and does not lie in China is WGS 84.
struct DatumReader {
    /// The datum that the numbers are taken for.
    let datum: Datum
    /// Cut edges may have so many vertices in all.
    private static let mostParts = 400_000

    /// `first` is the first vertex or the centre: it decides for the whole shape.
    init(declared: Datum, first: Degrees?) {
        guard declared != .wgs84, let first else {
            datum = .wgs84
            return
        }
        let place = DatumConversion.convert(first, from: declared, to: .wgs84)
        datum = DatumConversion.isInChina(latitude: place.latitude, longitude: place.longitude) ? declared : .wgs84
    }

    /// One place in WGS 84.
    func place(_ given: Degrees, _ name: @autoclosure () -> String) throws(ShapeError) -> Coordinate {
        _ = try asGiven(given, name())
        let place = DatumConversion.convert(given, from: datum, to: .wgs84)
        guard let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude) else {
            throw ShapeError(.coordinate, "\(name()) is \(given.textAsGiven), which is no place in the shape's datum")
        }
        return coordinate
    }

    /// The same numbers, whatever their datum.
    private func asGiven(_ given: Degrees, _ name: @autoclosure () -> String) throws(ShapeError) -> Coordinate {
        guard let place = Coordinate(latitude: given.latitude, longitude: given.longitude) else {
            throw ShapeError(
                .coordinate,
                "\(name()) is \(given.textAsGiven): a latitude is -90 to 90 and a longitude -180 to 180 degrees")
        }
        return place
    }

    /// A line in its own datum.
    func given(_ line: [Degrees], named name: String) throws(ShapeError) -> [LineVertex.Given] {
        var places: [LineVertex.Given] = []
        places.reserveCapacity(line.count)
        for (index, vertex) in line.enumerated() {
            let place = try asGiven(vertex, "vertex \(index + 1) of \(name)")
            places.append(LineVertex.Given(place: place, number: index + 1))
        }
        return places
    }

    /// A line in WGS 84. Long edges are cut first, because they are straight in their own datum.
    func line(_ given: [Degrees], _ isRing: Bool, _ name: String) throws(ShapeError) -> [LineVertex.Given] {
        var line: [LineVertex.Given] = []
        line.reserveCapacity(given.count)
        for (index, vertex) in given.enumerated() {
            line.append(LineVertex.Given(place: try place(vertex, "vertex \(index + 1) of \(name)"), number: index + 1))
            let isLast = index + 1 == given.count
            guard let longest, !isLast || isRing else { continue }
            let next = given[isLast ? 0 : index + 1]
            // A part is never longer than `longest`, and a metre of difference between the datums does not matter.
            let parts = Int((SurfaceDistance.between(vertex, next) / longest).rounded(.up))
            guard parts > 1, vertex.latitude.isFinite, next.latitude.isFinite else { continue }
            guard line.count + parts <= Self.mostParts else {
                throw ShapeError(.count, "\(name) is too long to be converted from its datum: give it in WGS 84")
            }
            for part in 1..<parts {
                let share = Double(part) / Double(parts)
                let between = Degrees(
                    latitude: vertex.latitude + share * (next.latitude - vertex.latitude),
                    longitude: vertex.longitude + share * (next.longitude - vertex.longitude))
                let converted = try place(between, "edge \(index + 1) of \(name)")
                line.append(LineVertex.Given(place: converted, number: index + 1))
            }
        }
        return line
    }

    /// Metres: what a straight edge may measure in this datum. BD-09 is bent in waves of 13 km.
    private var longest: Double? {
        switch datum {
        case .wgs84: nil
        case .gcj02: 2000
        case .bd09: 500
        }
    }
}
