import Testing

@testable import Geodesy

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
