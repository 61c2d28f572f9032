internal import TrackModel

/// A shape as a person or a program describes it, in the datum of their choice. It keeps the numbers as given.
package struct ShapeDraft: Hashable, Sendable {
    package enum Outline: Hashable, Sendable {
        /// Radius in metres.
        case circle(centre: Degrees, radius: Double)
        /// Parts; each has a shell and then its holes.
        case polygon([[[Degrees]]])
        /// Offset in metres.
        case corridor([Degrees], offset: Double)
        /// A place that its buffer makes a circle.
        case point(Degrees)
    }

    package var outline: Outline
    package var datum: Datum
    /// Metres around the outline, 0 or more; above 0 for a point.
    package var buffer: Double

    package init(_ outline: Outline, datum: Datum = .wgs84, buffer: Double = 0) {
        self.outline = outline
        self.datum = datum
        self.buffer = buffer
    }

    /// Metres.
    package static let mostRadius = 1_000_000.0
    package static let mostOffset = 10_000.0
    package static let mostBuffer = 100_000.0
    package static let mostPolygonVertices = 100_000
    package static let mostCorridorVertices = 10_000

    /// The shape in WGS 84.
    ///
    /// `isKnown`: it was a shape before. Then the costly check whether edges cross is left out. `isStored`: some version of this
    /// program took it for a shape: what only the rules of this version refuse stays one.
    ///
    /// - Throws: ``ShapeError`` that names the value, the edge and the place, and the rule.
    package func shape(isKnown: Bool = false, isStored: Bool = false) throws(ShapeError) -> Shape {
        guard buffer >= 0, buffer <= Self.mostBuffer else {
            throw ShapeError(.buffer, "a buffer is 0 to 100,000 metres, not \(buffer)")
        }
        let converter = DatumReader(declared: datum, first: first)
        switch outline {
        case .circle(let centre, let radius):
            guard radius > 0, radius <= Self.mostRadius else {
                throw ShapeError(.radius, "a circle's radius is above 0 and at most 1,000,000 metres, not \(radius)")
            }
            let place = try converter.place(centre, "the centre")
            return Shape(.circle(CircleShape(centre: place, radius: radius + buffer)))
        case .point(let place):
            guard buffer > 0 else {
                throw ShapeError(.buffer, "a point needs a buffer above 0 metres: it has no area without one")
            }
            return Shape(.circle(CircleShape(centre: try converter.place(place, "the point"), radius: buffer)))
        case .polygon(let parts):
            return try PolygonDraft(parts: parts, converter: converter).shape(
                buffer: buffer, isKnown: isKnown, isStored: isStored)
        case .corridor(let line, let offset): return try corridor(line, offset: offset, converter)
        }
    }

    /// The vertex or centre that decides on the datum.
    var first: Degrees? {
        switch outline {
        case .circle(let centre, _): centre
        case .point(let place): place
        case .polygon(let parts): parts.first?.first?.first
        case .corridor(let line, _): line.first
        }
    }

    private func corridor(
        _ line: [Degrees], offset: Double, _ converter: DatumReader
    ) throws(ShapeError) -> Shape {
        guard offset > 0, offset <= Self.mostOffset else {
            throw ShapeError(.radius, "a corridor's offset is above 0 and at most 10,000 metres, not \(offset)")
        }
        guard (2...Self.mostCorridorVertices).contains(line.count) else {
            throw ShapeError(.count, "a corridor has 2 to 10,000 vertices, not \(line.count)")
        }
        // What is wrong with the line is told with the numbers that were given.
        if converter.datum != .wgs84 {
            _ = try LineVertex.unwrapped(try converter.given(line, named: "the corridor"), named: "the corridor")
        }
        let given = try converter.line(line, false, "the corridor")
        let line = try LineVertex.unwrapped(given, named: "the corridor")
        let vertices = line.indices.filter { $0 == 0 || line[$0].place != line[$0 - 1].place }.map { line[$0] }
        if vertices.count == 1, let only = given.first {
            return Shape(.circle(CircleShape(centre: only.place, radius: offset + buffer)))
        }
        let (frame, lines) = try PolygonDraft.framed([vertices], named: "the corridor")
        return Shape(.corridor(CorridorShape(frame: frame, vertices: lines[0], offset: offset + buffer)))
    }
}

extension ShapeDraft {
    /// Of the outline as given; 1 for a place.
    package var vertexCount: Int {
        switch outline {
        case .circle, .point: 1
        case .polygon(let parts): parts.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        case .corridor(let line, _): line.count
        }
    }
}

extension ShapeDraft {
    /// The datum that the numbers are taken for: what is declared, or WGS 84 for a shape that does not lie in China.
    package var datumInUse: Datum { DatumReader(declared: datum, first: first).datum }

    /// The outline in a datum: the numbers as given when they are in it already. A shape outside China is in WGS 84, whatever
    /// is asked for. Edges are not cut, so a long edge of a converted outline lies a little beside the judged one.
    package func outline(in wanted: Datum) -> (outline: Outline, datum: Datum) {
        let given = datumInUse
        guard given == .wgs84, let first else { return (converted(from: given, to: wanted), wanted) }
        let isInChina = DatumConversion.isInChina(latitude: first.latitude, longitude: first.longitude)
        let target = isInChina ? wanted : .wgs84
        return (converted(from: given, to: target), target)
    }

    private func converted(from given: Datum, to target: Datum) -> Outline {
        guard given != target else { return outline }
        let convert = { (place: Degrees) in DatumConversion.convert(place, from: given, to: target) }
        return switch outline {
        case .circle(let centre, let radius): .circle(centre: convert(centre), radius: radius)
        case .point(let place): .point(convert(place))
        case .polygon(let parts): .polygon(parts.map { $0.map { $0.map(convert) } })
        case .corridor(let line, let offset): .corridor(line.map(convert), offset: offset)
        }
    }
}

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

/// Why a shape was refused. The text names the value, the rule and what to do.
package struct ShapeError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Rule: Hashable, Sendable {
        case coordinate
        case count
        case noArea
        case radius
        case buffer
        case halfTurn
        case aroundPole
        case tooWide
        case crossing
        case holeOutside
        case partInside
        case tooIntricate
    }

    package let rule: Rule
    package let description: String

    init(_ rule: Rule, _ description: String) {
        self.rule = rule
        self.description = description
    }
}

extension Degrees {
    /// Latitude and longitude as people write them, with at most seven decimals.
    /// A longitude beyond 180 degrees is one of an unwrapped line, and is written wrapped.
    var text: String {
        let wrapped = longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
        return "\(Self.text(latitude)), \(Self.text(wrapped))"
    }

    /// As they were given, in or out of their ranges.
    var textAsGiven: String { "\(Self.text(latitude)), \(Self.text(longitude))" }

    private static func text(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 1e9 else { return "\(value)" }
        let scaled = Int64((value * 1e7).rounded())
        var decimals = String(scaled.magnitude % 10_000_000)
        decimals = String(repeating: "0", count: 7 - decimals.count) + decimals
        while decimals.count > 1, decimals.hasSuffix("0") { decimals.removeLast() }
        return (scaled < 0 ? "-" : "") + "\(scaled.magnitude / 10_000_000).\(decimals)"
    }
}
