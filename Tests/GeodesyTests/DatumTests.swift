import ProgramTestKit
import Testing

@testable import Geodesy

@Suite struct DatumTests {
    /// WGS 84 and GCJ-02 pairs published with several open-source converters.
    @Test(arguments: [
        (31.177_427_6, 121.527_210_6, 31.175_303_983_647, 121.531_541_859_215),
        (22.543_847, 113.912_316, 22.540_796_131_695, 113.917_176_480_836),
        (39.911_954, 116.377_817, 39.913_345_455_361, 116.384_047_224_557),
        (39.915, 116.404, 39.916_404_281_502, 116.410_244_499_169),
    ])
    func publishedPairsOfGCJ02Agree(north: Double, east: Double, shiftedNorth: Double, shiftedEast: Double) {
        let place = Degrees(latitude: north, longitude: east)
        let shifted = Degrees(latitude: shiftedNorth, longitude: shiftedEast)
        #expect(metres(DatumConversion.convert(place, from: .wgs84, to: .gcj02), shifted) < 0.001)
        #expect(metres(DatumConversion.convert(shifted, from: .gcj02, to: .wgs84), place) < 0.02)
    }

    @Test func publishedPairsOfBD09Agree() {
        let place = Degrees(latitude: 39.915, longitude: 116.404)
        let further = Degrees(latitude: 39.921_336_993_510, longitude: 116.410_369_493_710)
        #expect(metres(DatumConversion.convert(place, from: .gcj02, to: .bd09), further) < 0.001)
        #expect(metres(DatumConversion.convert(further, from: .bd09, to: .gcj02), place) < 0.001)
    }

    @Test func everyConversionInChinaHasItsInverse() {
        var tried = 0
        for seed in Dice.seeds(20_000) {
            var random = Dice(seed: seed)
            let place = Degrees(
                latitude: Double.random(in: 18...53.5, using: &random),
                longitude: Double.random(in: 73.5...134.7, using: &random))
            guard DatumConversion.isInChina(latitude: place.latitude, longitude: place.longitude) else { continue }
            tried += 1
            for datum in [Datum.gcj02, .bd09] {
                let there = DatumConversion.convert(place, from: .wgs84, to: datum)
                #expect(there != place, "seed \(seed)")
                #expect(metres(there, place) < 2500, "seed \(seed)")
                let back = DatumConversion.convert(there, from: datum, to: .wgs84)
                #expect(metres(back, place) < 0.02, "seed \(seed)")
            }
        }
        #expect(tried > 5000)
    }

    @Test func whatIsOutsideStaysWhereItIs() {
        for (north, east) in [(51.5, -0.1), (35.68, 139.69), (37.57, 126.98), (-33.9, 151.2), (90.0, 0.0), (0.0, 0.0)] {
            let place = Degrees(latitude: north, longitude: east)
            #expect(DatumConversion.convert(place, from: .wgs84, to: .gcj02) == place)
            #expect(DatumConversion.convert(place, from: .gcj02, to: .wgs84) == place)
        }
    }

    /// At the edge a place outside and one inside can share their GCJ-02 degrees; the answer must then be one of them,
    /// and the one inside always comes back.
    @Test func forwardAndInverseAgreeAtTheEdge() {
        var near = 0
        for ring in ChinaOutline.rings {
            for index in stride(from: 0, to: ring.count, by: 2) {
                for seed in Dice.seeds(6) {
                    var random = Dice(seed: seed)
                    let place = Degrees(
                        latitude: Double(ring[index]) / 1000 + Double.random(in: -0.01...0.01, using: &random),
                        longitude: Double(ring[index + 1]) / 1000 + Double.random(in: -0.01...0.01, using: &random))
                    let there = DatumConversion.convert(place, from: .wgs84, to: .gcj02)
                    let back = DatumConversion.convert(there, from: .gcj02, to: .wgs84)
                    let again = DatumConversion.convert(back, from: .wgs84, to: .gcj02)
                    #expect(metres(again, there) < 0.02, "seed \(seed) at \(place)")
                    if DatumConversion.isInChina(latitude: place.latitude, longitude: place.longitude) {
                        near += 1
                        #expect(metres(back, place) < 0.02, "seed \(seed) at \(place)")
                    }
                }
            }
        }
        #expect(near > 1000)
    }

    @Test func numbersThatAreNoPlaceDoNoHarm() {
        for bad in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            for source in Datum.allCases {
                for target in Datum.allCases {
                    _ = DatumConversion.convert(Degrees(latitude: bad, longitude: 116), from: source, to: target)
                    _ = DatumConversion.convert(Degrees(latitude: 39, longitude: bad), from: source, to: target)
                }
            }
            #expect(!DatumConversion.isInChina(latitude: bad, longitude: 116))
            #expect(!DatumConversion.isInChina(latitude: 39, longitude: bad))
        }
    }

    @Test(arguments: [
        ("Beijing", 39.90, 116.40, true), ("Kashgar", 39.47, 75.99, true), ("Mohe", 52.97, 122.5, true),
        ("Sanya", 18.25, 109.5, true), ("Lhasa", 29.65, 91.1, true), ("Shanghai", 31.23, 121.47, true),
        ("Hong Kong", 22.30, 114.17, true), ("Macao", 22.19, 113.55, true), ("Taipei", 25.03, 121.57, true),
        ("Kinmen", 24.45, 118.38, true), ("Penghu", 23.57, 119.58, true), ("Zhoushan", 30.0, 122.2, true),
        ("Dandong", 40.12, 124.37, true), ("Seoul", 37.57, 126.98, false), ("Hanoi", 21.02, 105.84, false),
        ("Vladivostok", 43.12, 131.89, false), ("Khabarovsk", 48.48, 135.07, false), ("Almaty", 43.25, 76.90, false),
        ("Ulaanbaatar", 47.90, 106.90, false), ("Kathmandu", 27.70, 85.30, false), ("Ishigaki", 24.34, 124.15, false),
        ("Yonaguni", 24.46, 123.0, false), ("Tokyo", 35.68, 139.69, false), ("Blagoveshchensk", 50.29, 127.53, false),
    ])
    func citiesAreOnTheirSide(name: String, north: Double, east: Double, isInside: Bool) {
        #expect(DatumConversion.isInChina(latitude: north, longitude: east) == isInside, "\(name)")
    }
}
