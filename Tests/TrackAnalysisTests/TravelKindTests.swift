import Geodesy
import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct TravelKindTests {
    /// A sample each ten seconds, with these speeds in km/h.
    private func track(_ speeds: [Double], told: Bool = true) -> [TrackSample] {
        var metres = 0.0
        return TrackColumns(
            fixes: speeds.enumerated().map { number, speed in
                if number > 0 { metres += speed / 3.6 * 10 }
                let place = destination(
                    from: Degrees(latitude: 47, longitude: 9), bearing: 90, distance: metres)
                return .at(Double(number) * 10, place.latitude, place.longitude, speed: told ? speed / 3.6 : nil)
            }
        ).samples
    }

    private func kinds(_ speeds: [Double], told: Bool = true) -> Set<TravelKind> {
        Set(TravelKind.kinds(of: track(speeds, told: told), detecting: true))
    }

    @Test func aVehicleDrivesUnlessSomebodyAsks() {
        let slow = track([Double](repeating: 4, count: 40))
        #expect(Set(TravelKind.kinds(of: slow, detecting: false)) == [.driving])
        #expect(Set(TravelKind.kinds(of: slow, detecting: true)) == [.walking])
        #expect(TravelKind.kinds(of: [], detecting: true) == [])
    }

    @Test func speedTellsWalkingRidingAndDriving() {
        for told in [true, false] {
            #expect(kinds([Double](repeating: 8.9, count: 40), told: told) == [.walking])
            #expect(kinds([Double](repeating: 9.1, count: 40), told: told) == [.riding])
            #expect(kinds([Double](repeating: 29.9, count: 40), told: told) == [.riding])
            #expect(kinds([Double](repeating: 30.1, count: 40), told: told) == [.driving])
        }
    }

    @Test func oneInTwentyMayBeFaster() {
        let walk = [Double](repeating: 5, count: 19)
        #expect(kinds(walk + [50]) == [.walking])
        #expect(kinds(walk + [20, 20]) == [.riding])
        #expect(kinds(walk + [50, 50]) == [.driving])
    }

    @Test func stopsPartTheKinds() {
        let stop = [Double](repeating: 0, count: 12)
        let speeds = [Double](repeating: 60, count: 20) + stop + [Double](repeating: 5, count: 20)
        let (clean, _) = TrackCleaner.clean(
            TrackColumns(
                track(speeds).map { sample in
                    TrackPoint(
                        Fix(
                            time: sample.timestamp, coordinate: MadeDrive.coordinate(sample.place),
                            speed: sample.speed))
                }), CleaningOptions(collapsesStops: true))
        let kinds = TravelKind.kinds(of: clean, detecting: true)
        #expect(kinds.first == .driving && kinds.last == .walking && kinds.contains(.standing))
        #expect(zip(clean, kinds).allSatisfy { $0.isInStop == ($1 == .standing) })
    }
}
