import Geodesy
import Geofencing
import JSON
import ProgramTestKit
import Testing
import TrackModel

@testable import FenceFiles

/// What fences would have told of a recorded track.
@Suite struct TrackTrialTests {
    private func point(_ seconds: Int64, _ longitude: Double, speed: Int32 = 2000) throws -> FencePoint {
        FencePoint(
            time: time(seconds), place: try #require(Coordinate(latitude: 40, longitude: longitude)), accuracy: 50,
            speed: speed)
    }

    private func round(
        _ id: Int32, _ longitude: Double = 116, _ change: (inout FenceDefinition) -> Void = { _ in }
    ) throws -> Fence {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: longitude), radius: 100)))
        change(&definition)
        return try fence(id, definition)
    }

    /// In at 1.17 m/1e-5 degree: the edge is 0.00117103 degrees away.
    private func drive() throws -> [FencePoint] {
        try [(0, 115.995), (20, 116.0), (40, 116.0), (60, 116.005)].map { try point($0.0, $0.1) }
    }

    @Test func rowsSayWhatWouldHaveBeenTold() throws {
        let yard = try round(7) {
            ($0.name, $0.rule, $0.stay) = ("yard", [.enter, .exit, .stay], StayAlarmRule(after: 10, every: 10))
        }
        let trial = TrackTrial(of: try drive(), entity: "van_07", by: [yard])
        #expect(trial.rows.map(\.action) == [.enter, .stay, .exit])
        #expect(trial.rows.map(\.time) == [time(20), time(40), time(60)])
        #expect(trial.rows.allSatisfy { $0.entity == "van_07" && $0.fence == 7 && $0.name == "yard" && !$0.isGroup })
        let crossings = trial.rows.map(\.crossing)
        // On the edge, 1171 of 5000 parts of the way from the middle.
        #expect((crossings[0].time.milliseconds - 15_316).magnitude <= 2)
        #expect((crossings[2].time.milliseconds - 44_684).magnitude <= 2)
        #expect((crossings[0].place.longitude - 115.998829).magnitude < 2e-7)
        #expect(trial.rows[1].skipped == 1 && trial.rows[1].inside == 20_000)
        #expect(trial.judged == 4 && trial.repeated == 0 && trial.notTried.isEmpty)
    }

    @Test func theOrderOfTheFileDoesNotMatter() throws {
        let (points, yard) = (try drive(), try round(7))
        let plain = TrackTrial(of: points, entity: "van", by: [yard])
        let mixed = TrackTrial(of: [points[2], points[0], points[3], points[1], points[0]], entity: "van", by: [yard])
        #expect(mixed.rows == plain.rows && plain.rows.count == 2)
        #expect(mixed.repeated == 1)
        #expect(try JSONReader.value(of: mixed.geoJSON) == JSONReader.value(of: plain.geoJSON))
    }

    @Test func aGroupHasItsOwnRows() throws {
        let trial = TrackTrial(
            of: try drive(), entity: "van", by: [try round(7) { ($0.name, $0.group) = ("gate", "yard") }])
        #expect(
            trial.rows.map { "\($0.action) \($0.name) \($0.isGroup)" } == [
                "enter gate false", "enter yard true", "exit gate false", "exit yard true",
            ])
    }

    @Test func aFenceWhoseZoneNobodyKnowsIsNotTried() throws {
        let window = try #require(WeeklyWindow(days: 127, from: 0, to: 86_400))
        let zoned = try round(8) {
            $0.validity = FenceValidity(windows: [window], zone: .named("Asia/Shanghai"))
        }
        let trial = TrackTrial(of: try drive(), entity: "van", by: [zoned, try round(7)])
        #expect(trial.rows.map(\.fence) == [7, 7])
        #expect(trial.notTried.map(\.fence) == [8])
        #expect(trial.notTried.first?.reason.contains("Asia/Shanghai") == true)
    }

    @Test func nothingIsNothing() throws {
        let trial = TrackTrial(of: [], entity: "van", by: [])
        #expect(trial.rows.isEmpty && trial.judged == 0)
        #expect(String(decoding: trial.geoJSON, as: UTF8.self) == #"{"type":"FeatureCollection","features":[]}"#)
        let lone = TrackTrial(of: [try point(0, 116)], entity: "van", by: [])
        #expect(try features(of: lone).first?["geometry"]?["type"] == "Point")
    }

    private func features(of trial: TrackTrial) throws -> [JSONValue] {
        try #require(JSONReader.value(of: trial.geoJSON)["features"]?.arrayValue)
    }

    @Test func theMapHasTrackFencesAndCrossings() throws {
        let trial = TrackTrial(of: try drive(), entity: "van", by: [try round(7) { $0.name = "yard" }])
        let found = try features(of: trial)
        #expect(found.count == 4)
        #expect(found[0]["geometry"]?["type"] == "LineString")
        #expect(found[0]["geometry"]?["coordinates"]?.arrayValue?.first == [115.995, 40])
        #expect(found[0]["properties"]?["through"] == 60_000)
        #expect(found[1]["id"] == 7 && found[1]["properties"]?["radius"] == 100)
        #expect(found[2]["properties"]?["action"] == "enter" && found[3]["properties"]?["action"] == "exit")
        #expect(found[2]["properties"]?["fence_id"] == 7 && found[2]["properties"]?["name"] == "yard")
        let crossing = try #require(found[2]["geometry"]?["coordinates"]?.arrayValue)
        #expect(crossing.first?.doubleValue == trial.rows[0].crossing.place.longitude)
        // Any reader of GeoJSON takes the map, and the fences in it are the same.
        let reader = GeoJSONFeatures(source(String(decoding: trial.geoJSON, as: UTF8.self)))
        #expect(try all(reader).count { $0.feature != nil } == 4)
    }

    /// Where the receiver itself, point by point, was inside and outside: worked out without Saker.
    @Test(.needs(.recordings([Recordings.theHague])))
    func aRecordedDrive() throws {
        let points = try RecordedTrack.theHague().map { FencePoint($0.fix) }
        func round(_ id: Int32, _ latitude: Double, _ longitude: Double) throws -> Fence {
            try fence(
                id,
                FenceDefinition(
                    ShapeDraft(.circle(centre: Degrees(latitude: latitude, longitude: longitude), radius: 150))))
        }
        let fences = [
            try round(1, 52.0604577, 4.3796628), try round(2, 52.0379425, 4.3369736),
            try round(3, 52.0401008, 4.325713), try round(4, 52.0226952, 4.2935247),
            try round(5, 51.9872399, 4.3528928),
        ]
        let trial = TrackTrial(of: points, entity: "hague", by: fences)
        #expect(trial.judged + trial.repeated == points.count && points.count == 3453)
        // Seconds of 2010-02-01 of the first point on the other side.
        let expected: [(Int32, FenceAction, Int64)] = [
            (1, .enter, 45_774), (1, .exit, 45_788), (1, .enter, 46_159), (1, .exit, 46_171), (2, .enter, 46_347),
            (2, .exit, 46_400), (3, .enter, 46_950), (3, .exit, 47_047), (4, .enter, 47_572), (4, .exit, 47_602),
            (5, .enter, 48_153), (5, .exit, 48_198),
        ]
        #expect(trial.rows.count == expected.count, "\(trial.rows)")
        for (row, (fence, action, second)) in zip(trial.rows, expected) {
            let day: Int64 = 1_264_982_400
            #expect(row.fence == fence && row.action == action, "\(row)")
            // Between the last point on this side and the first on the other, and half a metre of scan.
            let crossing = Double(row.crossing.time.milliseconds) / 1000 - Double(day)
            #expect(crossing > Double(second) - 2.5 && crossing < Double(second) + 1.5, "\(row) \(crossing)")
        }
    }
}
