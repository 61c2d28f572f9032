import ProgramTestKit
import Testing
import TrackModel

@testable import Geodesy

@Suite struct ShapePropertyTests {
    /// A random star around a place, on the grid.
    private func star(_ random: inout Dice, latitude: Int32 = 400_000_000, size: Double = 20_000)
        -> [Degrees]
    {
        let count = Int.random(in: 3...20, using: &random)
        return (0..<count).map { index in
            let end = GreatCircle.destination(
                from: Degrees(latitude: 0, longitude: 0), bearing: Double(index) / Double(count) * 360,
                distance: size * Double.random(in: 0.3...1, using: &random))
            let north = Int32((end.latitude * 1e7).rounded()) / 2 * 2
            let east = Int32((end.longitude * 1e7).rounded()) / 2 * 2
            return Degrees(latitude: Double(latitude + north) / 1e7, longitude: Double(1_160_000_000 + east) / 1e7)
        }
    }

    private func near(_ random: inout Dice, _ reach: Int32 = 2_500_000) -> Coordinate {
        let offsets = (0..<2).map { _ in Int32.random(in: -reach...reach, using: &random) }
        return place(Double(400_000_000 + offsets[0]) / 1e7, Double(1_160_000_000 + offsets[1]) / 1e7)
    }

    /// The winding number, with integers of 128 bits: another way to the same answer.
    private func winds(_ ring: [Degrees], around place: Coordinate) -> Bool {
        let vertices = ring.map {
            (
                x: Int128(($0.longitude * 1e7).rounded()) - Int128(place.longitudeE7),
                y: Int128(($0.latitude * 1e7).rounded()) - Int128(place.latitudeE7)
            )
        }
        var winding = 0
        for (start, end) in zip(vertices, vertices.dropFirst() + [vertices[0]]) {
            let side = start.x * end.y - end.x * start.y
            if side == 0, start.x * end.x <= 0, start.y * end.y <= 0 { return true }
            if start.y <= 0, end.y > 0, side > 0 { winding += 1 }
            if start.y > 0, end.y <= 0, side < 0 { winding -= 1 }
        }
        return winding != 0
    }

    @Test func insideIsWhatTheWindingNumberSays() throws {
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            let ring = star(&random)
            let shape = try ShapeDraft(.polygon([[ring]])).shape()
            for _ in 0..<40 {
                let place = near(&random)
                #expect(shape.contains(place) == winds(ring, around: place), "seed \(seed): \(place)")
            }
            for vertex in ring { #expect(shape.contains(place(vertex.latitude, vertex.longitude)), "seed \(seed)") }
        }
    }

    @Test func howARingIsWrittenDoesNotMatter() throws {
        for seed in Dice.seeds(40) {
            var random = Dice(seed: seed)
            let ring = star(&random)
            let turn = Int.random(in: 0..<ring.count, using: &random)
            var (middles, doubled): ([Degrees], [Degrees]) = ([], [])
            for (index, start) in ring.enumerated() {
                let end = ring[(index + 1) % ring.count]
                let latitude = (start.latitude + end.latitude) / 2
                let longitude = (start.longitude + end.longitude) / 2
                middles += [start, Degrees(latitude: latitude, longitude: longitude)]
                doubled += [start, start]
            }
            let turned = Array(ring[turn...]) + Array(ring[..<turn])
            let backwards: [Degrees] = ring.reversed()
            let writings: [[Degrees]] = [turned, backwards, ring + [ring[0]], middles, doubled]
            let plain = try ShapeDraft(.polygon([[ring]])).shape()
            for writing in writings {
                let shape = try ShapeDraft(.polygon([[writing]])).shape()
                for _ in 0..<20 {
                    let place = near(&random)
                    #expect(shape.contains(place) == plain.contains(place), "seed \(seed)")
                    let difference = shape.signedDistance(to: place) - plain.signedDistance(to: place)
                    #expect(difference.magnitude < 1e-6, "seed \(seed): \(place)")
                }
            }
        }
    }

    @Test func largerIsNeverLess() throws {
        for seed in Dice.seeds(40) {
            var random = Dice(seed: seed)
            let ring = star(&random, size: 3000)
            let place = near(&random, 500_000)
            var wasIn = [false, false, false]
            for size in [1.0, 10, 100, 1000, 2000, 4000, 10_000] {
                let shapes = [
                    try ShapeDraft(.circle(centre: ring[0], radius: size)).shape(),
                    try ShapeDraft(.corridor(ring, offset: size)).shape(),
                    try ShapeDraft(.polygon([[ring]]), buffer: size).shape(),
                ]
                let isIn = shapes.map { $0.contains(place) }
                for (was, now) in zip(wasIn, isIn) { #expect(now || !was, "seed \(seed): \(size)") }
                wasIn = isIn
            }
        }
    }

    @Test func aCircleIsAPolygonOfManyVertices() throws {
        for seed in Dice.seeds(20) {
            var random = Dice(seed: seed)
            let centre = Degrees(latitude: Double.random(in: -60...60, using: &random), longitude: 10)
            let radius = Double.random(in: 3000...5000, using: &random)
            let ring = (0..<720).map { index in
                var distance = radius
                var end = centre
                for _ in 0..<6 {
                    end = GreatCircle.destination(from: centre, bearing: Double(index) / 2, distance: distance)
                    distance *= radius / SurfaceDistance.between(centre, end)
                }
                return end
            }
            let circle = try ShapeDraft(.circle(centre: centre, radius: radius)).shape()
            let polygon = try ShapeDraft(.polygon([[ring]])).shape()
            for _ in 0..<300 {
                let distance = radius * Double.random(in: 0.999...1.001, using: &random)
                let end = GreatCircle.destination(
                    from: centre, bearing: Double.random(in: 0..<360, using: &random), distance: distance)
                let place = place(end.latitude, end.longitude)
                let signed = circle.signedDistance(to: place)
                // The grid's unit is a centimetre.
                guard signed.magnitude > 1e-5 * radius + 0.015 else { continue }
                #expect(polygon.contains(place) == (signed <= 0), "seed \(seed): \(signed)")
            }
        }
    }

    @Test func threeDatumsAreOneFence() throws {
        for seed in Dice.seeds(25) {
            var random = Dice(seed: seed)
            let centre = Degrees(
                latitude: Double.random(in: 26...40, using: &random),
                longitude: Double.random(in: 105...117, using: &random))
            let plain = try ShapeDraft(.circle(centre: centre, radius: 300)).shape()
            for datum in [Datum.gcj02, .bd09] {
                let given = DatumConversion.convert(centre, from: .wgs84, to: datum)
                let shape = try ShapeDraft(.circle(centre: given, radius: 300), datum: datum).shape()
                for _ in 0..<30 {
                    let end = GreatCircle.destination(
                        from: centre, bearing: Double.random(in: 0..<360, using: &random),
                        distance: Double.random(in: 295...305, using: &random))
                    let place = place(end.latitude, end.longitude)
                    let signed = plain.signedDistance(to: place)
                    guard signed.magnitude > 0.02 else { continue }
                    #expect(shape.contains(place) == (signed <= 0), "seed \(seed): \(signed)")
                }
            }
        }
    }

    /// A line or a ring with its edges cut into parts of some metres, in their own datum, and then converted to WGS 84.
    private func cut(_ line: [Degrees], isRing: Bool, from datum: Datum, metres: Double) -> [Degrees] {
        let ends = line.dropFirst() + (isRing ? [line[0]] : [])
        var result: [Degrees] = []
        for (start, end) in zip(line, ends) {
            let parts = max(1, (SurfaceDistance.between(start, end) / metres).rounded(.up))
            for part in stride(from: 0, to: parts, by: 1) {
                let share = part / parts
                result.append(
                    Degrees(
                        latitude: start.latitude + share * (end.latitude - start.latitude),
                        longitude: start.longitude + share * (end.longitude - start.longitude)))
            }
        }
        if !isRing, let last = line.last { result.append(last) }
        return result.map { DatumConversion.convert($0, from: datum, to: .wgs84) }
    }

    /// Places some metres beside a line, most of them near its edges' middles, where a wrong edge lies farthest away.
    private func beside(_ line: [Degrees], by metres: Double, _ random: inout Dice) -> Coordinate {
        let at = line[Int.random(in: 0..<line.count, using: &random)]
        let end = GreatCircle.destination(
            from: at, bearing: Double.random(in: 0..<360, using: &random),
            distance: metres + Double.random(in: -3...3, using: &random))
        return place(end.latitude, end.longitude)
    }

    /// Edges are straight in the datum in which they are given. A fence whose edges are so long that they are cut agrees with
    /// one that is cut much finer, but for half a metre.
    @Test func longEdgesLieWhereTheirDatumHasThem() throws {
        for seed in Dice.seeds(6) {
            var random = Dice(seed: seed)
            let ring = star(
                &random, latitude: Int32.random(in: 260_000_000...400_000_000, using: &random), size: 4000)
            for datum in [Datum.gcj02, .bd09] {
                let given = ring.map { DatumConversion.convert($0, from: .wgs84, to: datum) }
                let (fineRing, fineLine) = (
                    cut(given, isRing: true, from: datum, metres: 25),
                    cut(given, isRing: false, from: datum, metres: 25)
                )
                for (shape, plain, line, reach) in [
                    (
                        try ShapeDraft(.polygon([[given]]), datum: datum).shape(),
                        try ShapeDraft(.polygon([[fineRing]])).shape(), fineRing, 0.0
                    ),
                    (
                        try ShapeDraft(.corridor(given, offset: 60), datum: datum).shape(),
                        try ShapeDraft(.corridor(fineLine, offset: 60)).shape(), fineLine, 60
                    ),
                ] {
                    var judged = 0
                    for _ in 0..<60 {
                        let place = beside(line, by: reach, &random)
                        let signed = plain.signedDistance(to: place)
                        guard signed.magnitude > 0.5 else { continue }
                        judged += 1
                        #expect(shape.contains(place) == (signed <= 0), "seed \(seed), \(datum): \(signed) at \(place)")
                    }
                    #expect(judged > 20, "seed \(seed)")
                }
            }
        }
    }

    /// Edges so short that no datum bends them: 2 cm, which is what the grid of the vertices leaves.
    @Test func shortEdgesAreTheSameInThreeDatums() throws {
        for seed in Dice.seeds(20) {
            var random = Dice(seed: seed)
            let ring = star(
                &random, latitude: Int32.random(in: 260_000_000...400_000_000, using: &random), size: 25)
            for datum in [Datum.gcj02, .bd09] {
                let given = ring.map { DatumConversion.convert($0, from: .wgs84, to: datum) }
                for (outline, plain, reach) in [
                    (ShapeDraft.Outline.polygon([[given]]), ShapeDraft.Outline.polygon([[ring]]), 0.0),
                    (.corridor(given, offset: 15), .corridor(ring, offset: 15), 15),
                ] {
                    let (shape, wanted) = (try ShapeDraft(outline, datum: datum).shape(), try ShapeDraft(plain).shape())
                    for _ in 0..<40 {
                        let place = beside(ring, by: reach, &random)
                        let signed = wanted.signedDistance(to: place)
                        guard signed.magnitude > 0.02 else { continue }
                        #expect(shape.contains(place) == (signed <= 0), "seed \(seed), \(datum): \(signed) at \(place)")
                    }
                }
            }
        }
    }

    @Test func distancesAreContinuous() throws {
        // A step of some metres never changes the distance by more than the step.
        for seed in Dice.seeds(25) {
            var random = Dice(seed: seed)
            let latitude = Int32.random(in: -840_000_000...840_000_000, using: &random)
            let ring = star(&random, latitude: latitude, size: 2000)
            for shape in [
                try ShapeDraft(.polygon([[ring]])).shape(), try ShapeDraft(.corridor(ring, offset: 50)).shape(),
                try ShapeDraft(.circle(centre: ring[0], radius: 2000)).shape(),
            ] {
                for _ in 0..<30 {
                    let north = latitude + Int32.random(in: -1_500_000...1_500_000, using: &random)
                    let east = 1_160_000_000 + Int32.random(in: -1_500_000...1_500_000, using: &random)
                    let stepNorth = Int32.random(in: -2000...2000, using: &random)
                    let stepEast = Int32.random(in: -2000...2000, using: &random)
                    let one = place(Double(north) / 1e7, Double(east) / 1e7)
                    let two = place(Double(north + stepNorth) / 1e7, Double(east + stepEast) / 1e7)
                    let change = (shape.signedDistance(to: one) - shape.signedDistance(to: two)).magnitude
                    let step = SurfaceDistance.between(one, two)
                    #expect(change <= step + max(0.05, step * 1e-3), "seed \(seed): \(change) for \(step), \(one)")
                }
            }
        }
    }

    @Test func passagesBeginAndEndOnTheBoundary() throws {
        for seed in Dice.seeds(25) {
            var random = Dice(seed: seed)
            let ring = star(&random, size: 2000)
            for shape in [
                try ShapeDraft(.polygon([[ring]])).shape(), try ShapeDraft(.polygon([[ring]]), buffer: 40).shape(),
                try ShapeDraft(.corridor(ring, offset: 50)).shape(),
                try ShapeDraft(.circle(centre: ring[0], radius: 1500)).shape(),
            ] {
                let way = Way(from: near(&random, 300_000), to: near(&random, 300_000))
                for part in shape.passage(of: way).parts {
                    for share in [part.lowerBound, part.upperBound] where share > 0 && share < 1 {
                        let signed = shape.signedDistance(to: way.place(at: share))
                        #expect(signed.magnitude < 0.03, "seed \(seed): \(signed)")
                    }
                    let middle = way.place(at: (part.lowerBound + part.upperBound) / 2)
                    #expect(shape.signedDistance(to: middle) < 0.03, "seed \(seed)")
                }
                #expect(
                    shape.contains(way.end) == (shape.passage(of: way).parts.last?.upperBound == 1), "seed \(seed)")
            }
        }
    }

    @Test func anyNumbersAreAShapeOrAnError() {
        let odd: [Double] = [
            .nan, .infinity, -Double.infinity, 0, 90, -90, 180, -180, 1e-300, 89.9999999, 179.9999999, 1e18,
        ]
        for seed in Dice.seeds(150) {
            var random = Dice(seed: seed)
            func number(_ limit: Double) -> Double {
                Int.random(in: 0..<12, using: &random) == 0
                    ? odd.randomElement(using: &random) ?? 0 : Double.random(in: -limit...limit, using: &random)
            }
            // The whole earth, or a few kilometres in China, where the other datums count.
            let isWide = Bool.random(using: &random)
            let (limits, middle) = isWide ? ((90.0, 180.0), (0.0, 0.0)) : ((0.02, 0.02), (30.0, 110.0))
            let line = (0..<Int.random(in: 0...7, using: &random)).map { _ in
                Degrees(latitude: middle.0 + number(limits.0), longitude: middle.1 + number(limits.1))
            }
            let outlines: [ShapeDraft.Outline] = [
                .circle(centre: line.first ?? Degrees(latitude: 0, longitude: 0), radius: number(1e6)),
                .point(line.last ?? Degrees(latitude: 0, longitude: 0)), .corridor(line, offset: number(10_000)),
                .polygon([[line]]), .polygon([[line, Array(line.reversed())], [line]]),
            ]
            let way = Way(
                from: place(Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random)),
                to: place(Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random)))
            for outline in outlines {
                let datum = isWide ? Datum.wgs84 : Datum.allCases.randomElement(using: &random) ?? .wgs84
                let draft = ShapeDraft(outline, datum: datum, buffer: number(100))
                guard let shape = try? draft.shape() else { continue }
                #expect(shape.signedDistance(to: way.start) > -.infinity, "seed \(seed)")
                _ = shape.passage(of: way)
                if shape.contains(way.start) {
                    #expect(shape.box()?.contains(way.start) == true, "seed \(seed): \(shape) \(way.start)")
                }
            }
        }
    }
}
