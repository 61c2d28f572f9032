import ProgramTestKit
import Testing
import TrackModel

@testable import Geodesy

@Suite struct ShapeDatumTests {
    @Test func aCircleInBD09LiesWhereTheMapShowsIt() throws {
        // G32
        let shape = try circle(40.0478, 116.3134, 50, datum: .bd09)
        guard case .circle(let converted) = shape.body else { return #expect(Bool(false)) }
        #expect(metres(Degrees(converted.centre), Degrees(latitude: 40.0404827, longitude: 116.3008443)) < 0.03)
        #expect(near(shape.signedDistance(to: place(40.0404827, 116.3014185)), -0.996, 0.02))
        #expect(near(shape.signedDistance(to: place(40.0404827, 116.3014419)), 1.001, 0.02))
        #expect(shape.contains(place(40.0404827, 116.3014185)))
        #expect(!shape.contains(place(40.0478, 116.3134)))
        #expect(near(shape.signedDistance(to: place(40.0478, 116.3134)), 1294.7, 0.1))
    }

    @Test(arguments: [
        (40.1486, 116.5167, 40.1410737, 116.5042881), (40.1478, 116.2134, 40.1407994, 116.2006800),
        (40.11, 120.44, 40.1027792, 120.4278349),
    ])
    func placesInBD09(_ pair: (Double, Double, Double, Double)) throws {
        // G33
        guard case .circle(let converted) = try circle(pair.0, pair.1, 100, datum: .bd09).body else { return }
        #expect(near(converted.centre.latitude, pair.2, 1.5e-7))
        #expect(near(converted.centre.longitude, pair.3, 1.5e-7))
    }

    @Test func aSquareInGCJ02() throws {
        // G34
        let square = [(31.23, 121.47), (31.23, 121.48), (31.24, 121.48), (31.24, 121.47)]
        let shape = try polygon(square, datum: .gcj02)
        guard case .polygon(let converted, _) = shape.body else { return #expect(Bool(false)) }
        let corners = [
            (31.2319199, 121.4654509), (31.2319464, 121.4754827), (31.2419419, 121.4754818), (31.2419153, 121.4654500),
        ]
        #expect(converted.vertices.count == 4)
        for (vertex, corner) in zip(converted.vertices, corners) {
            let found = converted.frame.degrees(x: Double(vertex.x), y: Double(vertex.y))
            #expect(near(found.latitude, corner.0, 1.5e-7) && near(found.longitude, corner.1, 1.5e-7), "\(found)")
        }
        #expect(near(shape.signedDistance(to: place(31.2369306, 121.4704660)), -477.82, 0.05))
        #expect(near(shape.signedDistance(to: place(31.235, 121.475)), -45.96, 0.05))
        #expect(near(shape.signedDistance(to: place(31.235, 121.4795)), 382.75, 0.05))
    }

    @Test func longEdgesAreCutBeforeTheyAreConverted() throws {
        // G35: the edge is bent; its middle lies 25.40 m from the straight line between the converted ends.
        let shape = try polygon([(39.95, 116.30), (39.95, 116.36), (39.99, 116.33)], datum: .bd09)
        #expect(near(shape.signedDistance(to: place(39.9429381, 116.3173223)), 0, 0.5))
        let straight = try polygon([(39.9424974, 116.2875475), (39.9429223, 116.3472409), (39.98, 116.32)])
        #expect(near(shape.signedDistance(to: place(39.9429381, 116.3173223)).magnitude, 0, 0.5))
        #expect(near(straight.signedDistance(to: place(39.9429381, 116.3173223)).magnitude, 25.40, 0.05))
    }

    private func refusal(_ ring: [(Double, Double)], _ datum: Datum) -> ShapeError? {
        do throws(ShapeError) {
            _ = try ShapeDraft(.polygon([[degrees(ring)]]), datum: datum).shape()
            return nil
        } catch {
            return error
        }
    }

    /// Edges are straight in the datum in which they are given. So the same numbers cross in every datum, or in none, and a
    /// message has the numbers of whoever sent them.
    @Test func aPolygonIsJudgedAlikeInEveryDatum() throws {
        let bowTie = [(39.8, 116.2), (40.0, 116.5), (39.8, 116.5), (40.0, 116.2)]
        for datum in Datum.allCases {
            let error = refusal(bowTie, datum)
            #expect(
                error?.description
                    == "edge 1 of the outer ring (39.8, 116.2 to 40.0, 116.5) crosses edge 3 of the outer ring"
                    + " (39.8, 116.5 to 40.0, 116.2) at 39.9, 116.35: no two edges of a shape may cross", "\(datum)")
            // On one line, and twice the same place.
            #expect(refusal([(39.8, 116.2), (39.9, 116.3), (40.0, 116.4)], datum)?.rule == .noArea, "\(datum)")
            let error2 = refusal([(39.8, 116.2), (39.8, 116.2), (39.9, 116.3)], datum)
            #expect(error2?.description.contains("at 39.8, 116.2,") == true, "\(datum)")
            let hole = ShapeDraft(
                .polygon([[degrees(largeSquare), degrees(box(40.03, 40.04, 116.0, 116.01))]]), datum: datum)
            do throws(ShapeError) {
                _ = try hole.shape()
                Issue.record("a hole outside is refused")
            } catch {
                #expect(error.rule == .holeOutside && error.description.contains("at 40.03, 116.0:"), "\(datum)")
            }
        }
        for seed in Dice.seeds(200) {
            var dice = Dice(seed: seed)
            let size: Double = [0.0001, 0.01, 0.5][Int.random(in: 0..<3, using: &dice)]
            // On a grid, so that vertices also lie on edges and on each other.
            var ring: [(Double, Double)] = []
            for _ in 0..<Int.random(in: 3...7, using: &dice) {
                let north = size * Double(Int.random(in: 0...6, using: &dice)) / 8
                let east = size * Double(Int.random(in: 0...6, using: &dice)) / 8
                ring.append((39.5 + north, 116.3 + east))
            }
            let refusals = Datum.allCases.map { refusal(ring, $0)?.description }
            #expect(Set(refusals).count == 1, "seed \(seed): \(ring) \(refusals)")
        }
    }

    /// A shape that an earlier version took stays one.
    @Test func aStoredShapeIsNotLost() throws {
        let bowTie = ShapeDraft(
            .polygon([[degrees([(39.8, 116.2), (40.0, 116.5), (39.8, 116.5), (40.0, 116.2)])]]), datum: .bd09)
        #expect(throws: ShapeError.self) { try bowTie.shape() }
        let kept = try bowTie.shape(isStored: true)
        #expect(kept == (try bowTie.shape(isKnown: true)))
        var plain = bowTie
        plain.datum = .wgs84
        #expect(throws: ShapeError.self) { try plain.shape(isStored: true) }
    }

    @Test func outsideChinaEveryDatumIsWGS84() throws {
        // G36
        let shape = try circle(48.8584, 2.2945, 100, datum: .bd09)
        #expect(near(shape.signedDistance(to: place(48.8590, 2.2945)), -33.28, 0.01))
    }
}

@Suite struct OutlineDatumTests {
    private let centre = Degrees(latitude: 40.0478, longitude: 116.3134)

    @Test func theNumbersComeBackAsGiven() {
        for datum in Datum.allCases {
            let draft = ShapeDraft(.circle(centre: centre, radius: 50), datum: datum)
            #expect(draft.datumInUse == datum)
            let answer = draft.outline(in: datum)
            #expect(answer.outline == draft.outline)
            #expect(answer.datum == datum)
        }
    }

    @Test func otherDatumsAreConverted() throws {
        // G32, and G33
        let draft = ShapeDraft(
            .corridor([centre, Degrees(latitude: 40.1486, longitude: 116.5167)], offset: 50), datum: .bd09)
        let answer = draft.outline(in: .wgs84)
        guard case .corridor(let line, 50) = answer.outline else { return #expect(Bool(false), "\(answer)") }
        let wanted = [(40.0404827, 116.3008443), (40.1410737, 116.5042881)]
        for (place, wanted) in zip(line, wanted) {
            #expect((place.latitude - wanted.0).magnitude < 1e-7 && (place.longitude - wanted.1).magnitude < 1e-7)
        }
        let back = ShapeDraft(answer.outline).outline(in: .bd09)
        guard case .corridor(let again, 50) = back.outline else { return #expect(Bool(false), "\(back)") }
        #expect(back.datum == .bd09)
        for (place, given) in zip(again, [centre, Degrees(latitude: 40.1486, longitude: 116.5167)]) {
            #expect((place.latitude - given.latitude).magnitude < 1e-8)
            #expect((place.longitude - given.longitude).magnitude < 1e-8)
        }
    }

    @Test func everyOutlineIsConverted() {
        let outlines: [ShapeDraft.Outline] = [.point(centre), .polygon([[[centre, centre]], [[centre]]])]
        for outline in outlines {
            let answer = ShapeDraft(outline, datum: .gcj02).outline(in: .wgs84).outline
            #expect(answer != outline)
            let place: Degrees? =
                switch answer {
                case .point(let place): place
                case .polygon(let parts): parts.last?.first?.first
                case .circle, .corridor: nil
                }
            #expect(place == DatumConversion.convert(centre, from: .gcj02, to: .wgs84))
        }
    }

    @Test func outsideChinaThereIsOnlyWGS84() {
        // G36
        let paris = ShapeDraft.Outline.circle(centre: Degrees(latitude: 48.8584, longitude: 2.2945), radius: 100)
        for declared in Datum.allCases {
            for wanted in Datum.allCases {
                let answer = ShapeDraft(paris, datum: declared).outline(in: wanted)
                #expect(answer.outline == paris)
                #expect(answer.datum == .wgs84)
            }
        }
        #expect(ShapeDraft(paris, datum: .bd09).datumInUse == .wgs84)
    }
}
