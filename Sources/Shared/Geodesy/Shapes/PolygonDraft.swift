internal import TrackModel

/// Makes a polygon of its parts: unwraps, cleans and checks the rings.
struct PolygonDraft {
    let parts: [[[Degrees]]]
    let converter: DatumReader

    func shape(buffer: Double, isKnown: Bool) throws(ShapeError) -> Shape {
        try checkCounts()
        var rings: [[LineVertex]] = []
        var shells: [Int] = []
        var names: [String] = []
        var anchor: Int64?
        for (partNumber, part) in parts.enumerated() {
            let shell = rings.count
            for (ringNumber, given) in part.enumerated() {
                let name = self.name(part: partNumber, ring: ringNumber)
                let line = try converter.line(given, isRing: true, named: name)
                var ring = try LineVertex.unwrappedRing(line, named: name)
                guard let first = ring.first else { continue }
                // Holes and further parts lie within half a turn of the first vertex of all.
                let shift = ShapeFrame.wrapped(first.x - (anchor ?? first.x)) + (anchor ?? first.x) - first.x
                anchor = anchor ?? first.x
                if shift != 0 {
                    for index in ring.indices { ring[index].x += shift }
                }
                let cleaned = RingCleaning.cleaned(ring)
                guard cleaned.count >= 3 else {
                    throw ShapeError(
                        .noArea,
                        "\(name), at \(first.degrees.text), has no area: it needs three vertices that are not on one line"
                    )
                }
                rings.append(cleaned)
                shells.append(shell)
                names.append(name)
            }
        }
        // A shape wider than the earth would overflow the exact arithmetic of the checks.
        let (frame, offsets) = try Self.framed(rings, named: "the polygon")
        if !isKnown { try RingCheck(rings: rings, shells: shells, names: names).check() }
        return Shape(.polygon(PolygonShape(frame: frame, rings: offsets), buffer: buffer))
    }

    private func checkCounts() throws(ShapeError) {
        let count = parts.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        guard (3...ShapeDraft.mostPolygonVertices).contains(count) else {
            throw ShapeError(.count, "a polygon has 3 to 100,000 vertices, not \(count)")
        }
        let ringCount = parts.reduce(0) { $0 + $1.count }
        guard ringCount <= RingCheck.mostRings else {
            throw ShapeError(.count, "a polygon has at most 10,000 rings, not \(ringCount)")
        }
        guard !parts.contains(where: \.isEmpty) else {
            throw ShapeError(.count, "each part of a polygon needs an outer ring")
        }
    }

    /// What a person calls a ring.
    private func name(part: Int, ring: Int) -> String {
        let inPart = parts.count > 1 ? " of part \(part + 1)" : ""
        return ring == 0 ? "the outer ring\(inPart)" : "hole \(ring)\(inPart)"
    }

    /// The frame of some lines, and the lines in it.
    static func framed(
        _ lines: [[LineVertex]], named name: String
    ) throws(ShapeError) -> (ShapeFrame, [[GridOffset]]) {
        var box = (west: Int64.max, south: Int64.max, east: Int64.min, north: Int64.min)
        for line in lines {
            for vertex in line {
                box = (
                    min(box.west, vertex.x), min(box.south, vertex.y), max(box.east, vertex.x), max(box.north, vertex.y)
                )
            }
        }
        guard let frame = ShapeFrame(south: box.south, west: box.west, north: box.north, east: box.east) else {
            throw LineVertex.tooWide(name)
        }
        let offsets = lines.map { line in
            line.map { GridOffset(x: UInt32($0.x - box.west), y: UInt32($0.y - box.south)) }
        }
        return (frame, offsets)
    }
}
