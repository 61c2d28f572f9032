internal import TrackModel

/// Makes a polygon of its parts: unwraps, cleans and checks the rings.
struct PolygonDraft {
    let parts: [[[Degrees]]]
    let converter: DatumReader

    /// Rings are judged as they were given: the same numbers make a polygon in every datum, or in none, and an error names what
    /// its reader sent.
    ///
    /// `isKnown`: it was a shape before, so nothing is judged. `isStored`: it was a shape for some version of this program, which
    /// may have judged the converted rings.
    func shape(buffer: Double, isKnown: Bool, isStored: Bool) throws(ShapeError) -> Shape {
        try checkCounts()
        let isConverted = converter.datum != .wgs84
        guard !isKnown || !isConverted else { return try made(try rings(converter.line), buffer: buffer) }
        let given: Rings
        do throws(ShapeError) {
            given = try rings { ring, _, name throws(ShapeError) in try converter.given(ring, named: name) }
            if !isKnown { try given.check() }
        } catch {
            guard isStored, isConverted else { throw error }
            let converted = try rings(converter.line)
            try converted.check()
            return try made(converted, buffer: buffer)
        }
        return try made(isConverted ? try rings(converter.line) : given, buffer: buffer)
    }

    private func made(_ rings: Rings, buffer: Double) throws(ShapeError) -> Shape {
        let (frame, offsets) = try Self.framed(rings.rings, named: "the polygon")
        return Shape(.polygon(PolygonShape(frame: frame, rings: offsets), buffer: buffer))
    }

    /// The rings of all parts, unwrapped and cleaned.
    private struct Rings {
        var rings: [[LineVertex]] = []
        /// For each ring the number of its shell.
        var shells: [Int] = []
        var names: [String] = []

        func check() throws(ShapeError) {
            // A shape wider than the earth would overflow the exact arithmetic of the checks.
            _ = try PolygonDraft.framed(rings, named: "the polygon")
            try RingCheck(rings: rings, shells: shells, names: names).check()
        }
    }

    /// `line`: the places of a given ring, whether it is a ring, and its name.
    private func rings(
        _ line: ([Degrees], Bool, String) throws(ShapeError) -> [LineVertex.Given]
    ) throws(ShapeError) -> Rings {
        var found = Rings()
        var anchor: Int64?
        for (partNumber, part) in parts.enumerated() {
            let shell = found.rings.count
            for (ringNumber, given) in part.enumerated() {
                let name = self.name(part: partNumber, ring: ringNumber)
                var ring = try LineVertex.unwrappedRing(try line(given, true, name), named: name)
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
                        "\(name), at \(given.first?.textAsGiven ?? ""), has no area: it needs three vertices that are not on one line"
                    )
                }
                found.rings.append(cleaned)
                found.shells.append(shell)
                found.names.append(name)
            }
        }
        return found
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

/// Takes out of a ring what adds nothing to its area.
enum RingCleaning {
    /// The ring without repeated vertices, without vertices on a straight line between their neighbours, and without spikes
    /// of zero width. Fewer than three vertices remain of a ring without area.
    static func cleaned(_ ring: [LineVertex]) -> [LineVertex] {
        var kept: [LineVertex] = []
        kept.reserveCapacity(ring.count)
        for vertex in ring { append(vertex, to: &kept) }
        // The end of the list meets its beginning: the same rules there.
        var start = 0
        var isClean = false
        while !isClean, kept.count - start >= 3 {
            isClean = true
            let (first, second) = (kept[start], kept[start + 1])
            let (last, beforeLast) = (kept[kept.count - 1], kept[kept.count - 2])
            if last.place == first.place || isNeedless(last, between: beforeLast, and: first) {
                kept.removeLast()
                isClean = false
            } else if isNeedless(first, between: last, and: second) {
                start += 1
                isClean = false
            }
        }
        return Array(kept[start...])
    }

    private static func append(_ vertex: LineVertex, to kept: inout [LineVertex]) {
        while let last = kept.last {
            if last.place == vertex.place { return }
            guard kept.count > 1, isNeedless(last, between: kept[kept.count - 2], and: vertex) else { break }
            kept.removeLast()
        }
        kept.append(vertex)
    }

    /// On one line with its neighbours, whether between them or at the tip of a spike.
    private static func isNeedless(_ vertex: LineVertex, between start: LineVertex, and end: LineVertex) -> Bool {
        RingTest.side(of: vertex.place, from: start.place, to: end.place) == 0
    }
}
