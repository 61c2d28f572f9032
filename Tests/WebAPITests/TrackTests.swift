import Geodesy
import JSON
import Testing
import TrackAnalysis
import TrackModel
import TrackStore

@testable import WebAPI

@Suite("Tracks")
struct TrackTests {
    private static let start: Int64 = 1_772_670_000

    /// Eastwards along the equator, one point every ten seconds, 0.001 degree each.
    private func bench(count: Int, options: WebAPIOptions = WebAPIOptions()) async throws -> Bench {
        let bench = try await Bench(options)
        try await bench.upload(
            "van", try (0..<count).map { try point(Self.start + Int64($0) * 10, 0, Double($0) / 1000, speed: 1000) })
        return bench
    }

    private func range(_ length: Int64 = 3600) -> String {
        "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + length)"
    }

    @Test func aTrackHasItsPointsItsEndsAndItsLength() async throws {
        let bench = try await bench(count: 3)
        let response = await bench.router.respond(
            to: APIRequest(method: "GET", target: "/api/v3/track/gettrack?ak=\(Bench.key)&service_id=1&\(range(10))"))
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == "{\"status\":0,\"message\":\"成功\",\"total\":2,\"size\":2,\"distance\":111.3195,\"toll_distance\":0,"
                + "\"start_point\":{\"loc_time\":1772670000,\"longitude\":0,\"latitude\":0,\"coord_type\":\"wgs84\"},"
                + "\"end_point\":{\"loc_time\":1772670010,\"longitude\":0.001,\"latitude\":0,\"coord_type\":\"wgs84\"},"
                + "\"points\":[{\"loc_time\":1772670000,\"longitude\":0,\"latitude\":0,\"coord_type\":\"wgs84\",\"speed\":36,"
                + "\"create_time\":\"2026-03-05 10:31:40\"},"
                + "{\"loc_time\":1772670010,\"longitude\":0.001,\"latitude\":0,\"coord_type\":\"wgs84\",\"speed\":36,"
                + "\"create_time\":\"2026-03-05 10:31:40\"}]}")
    }

    @Test func parkedPointsSaySoUnlessAColumnHasTheName() async throws {
        let bench = try await Bench()
        var points = [try point(Self.start, 0, 0, speed: 0), try point(Self.start + 240, 0, 0, speed: 0)]
        points[1].isParked = true
        await #expect(throws: Never.self) { try await bench.upload("van", points) }
        func parked() async throws -> [JSONValue?] {
            let track = try await bench.get("track/gettrack", range())
            #expect(track["distance"] == .integer(0) || track["distance"] == .double(0))
            let latest = try await bench.get("track/getlatestpoint", "entity_name=van")
            return (track["points"]?.items ?? []).map { $0["parked"] } + [latest["latest_point"]?["parked"]]
        }
        #expect(try await parked() == [nil, .integer(1), .integer(1)])
        // A column of this name is older than the member.
        try await bench.store.addColumn(
            ColumnRecord(key: "parked", type: .string, created: Bench.now), of: .track, in: bench.service)
        #expect(try await parked() == [nil, nil, nil])
    }

    @Test func pagesAndOrderDoNotChangeTheTotals() async throws {
        let bench = try await bench(count: 7)
        func times(_ query: String) async throws -> [Int64] {
            let answer = try await bench.get("track/gettrack", "\(range())&\(query)")
            #expect(answer["total"] == .integer(7))
            #expect(answer["distance"] == .double(667.9169))
            return answer["points"]?.items.compactMap { $0["loc_time"]?.doubleValue }.map {
                (Int64($0) - Self.start) / 10
            }
                ?? []
        }
        #expect(try await times("") == [0, 1, 2, 3, 4, 5, 6])
        #expect(try await times("page_size=3&page_index=3") == [6])
        #expect(try await times("page_size=3&page_index=2&sort_type=desc") == [3, 2, 1])
        #expect(try await times("sort_type=1&page_size=1") == [6])
        #expect(try await times("page_index=2097151&page_size=9999") == [])
        #expect(try await bench.get("track/gettrack", "\(range())&sort_type=up").status == 2)
    }

    @Test func anEmptyTrackIsASuccess() async throws {
        let bench = try await bench(count: 1)
        #expect(
            await bench.text("track/gettrack", "entity_name=van&start_time=1&end_time=2")
                == #"{"status":0,"message":"成功","total":0,"size":0,"distance":0,"toll_distance":0,"points":[]}"#)
        #expect(
            try await bench.get("track/getdistance", "entity_name=van&start_time=1&end_time=2")["distance"]
                == .integer(0))
    }

    @Test(arguments: [
        ("start_time=2&end_time=1", 3201), ("start_time=1&end_time=86402", 3200), ("start_time=1&end_time=86401", 0),
        ("start_time=-9223372036854775808&end_time=9223372036854775807", 3200), ("start_time=1", 2), ("end_time=1", 2),
        ("start_time=x&end_time=1", 2), ("start_time=&end_time=", 2), ("start_time=1772677000&end_time=1772700000", 0),
        ("start_time=9000000000&end_time=9000000001", 0), ("start_time=1&end_time=2&is_processed=maybe", 2),
        ("start_time=1&end_time=2&is_processed=&process_option=&supplement_mode=", 0),
        ("start_time=1&end_time=2&supplement_mode=flying", 2), ("start_time=1&end_time=2&coord_type_output=bd09mc", 2),
        ("start_time=1&end_time=2&low_speed_threshold=x", 2),
    ])
    func rangesHaveTheirRules(query: String, status: Int64) async throws {
        let bench = try await bench(count: 1)
        #expect(try await bench.get("track/gettrack", "entity_name=van&\(query)").status == status)
    }

    @Test func unknownEntitiesAreNotFound() async throws {
        let bench = try await Bench()
        for path in ["track/gettrack", "track/getdistance", "track/getlatestpoint"] {
            #expect(try await bench.get(path, "entity_name=van&start_time=1&end_time=2").status == 3003)
            #expect(try await bench.get(path, "start_time=1&end_time=2").status == 2)
        }
    }

    @Test func aProcessedQueryHasASmallerLimitOfPoints() async throws {
        let bench = try await bench(count: 5, options: WebAPIOptions(maximumRawPoints: 5, maximumProcessedPoints: 4))
        #expect(try await bench.get("track/gettrack", range()).status == 0)
        #expect(try await bench.get("track/gettrack", "\(range())&is_processed=1").status == 3006)
        #expect(try await bench.get("track/gettrack", "\(range(30))&is_processed=true").status == 0)
    }

    @Test func interruptionsCountAsTheClientSays() async throws {
        let bench = try await Bench()
        try await bench.upload(
            "van", [try point(Self.start, 0, 0), try point(Self.start + 299, 0, 1), try point(Self.start + 599, 0, 3)])
        func distance(_ query: String) async throws -> Double? {
            try await bench.get("track/getdistance", "\(range())&\(query)")["distance"]?.doubleValue.map {
                ($0 / 1000).rounded()
            }
        }
        #expect(try await distance("") == 111)
        #expect(try await distance("supplement_mode=no_supplement") == 111)
        for mode in ["straight", "driving", "riding", "Walking"] {
            #expect(try await distance("supplement_mode=\(mode)") == 334)
        }
    }

    @Test func slowDistanceIsToldWhenAskedFor() async throws {
        let bench = try await Bench()
        var slow = try point(Self.start + 20, 0, 0.002)
        slow.fix.speed = 100
        // The last one has no speed: 111 m in 10 s are 40 km/h.
        try await bench.upload(
            "van",
            [
                try point(Self.start, 0, 0), try point(Self.start + 10, 0, 0.001, speed: 1000), slow,
                try point(Self.start + 30, 0, 0.003),
            ])
        let answer = try await bench.get("track/gettrack", "\(range())&low_speed_threshold=10")
        #expect(answer["distance"] == .double(333.9585))
        #expect(answer["low_speed_distance"] == .double(111.3195))
        #expect(try await bench.get("track/gettrack", range())["low_speed_distance"] == nil)
    }

    @Test func inaccuratePointsAreLeftOutOfProcessedTracksOnly() async throws {
        let bench = try await Bench()
        try await bench.upload(
            "van",
            [
                try point(Self.start, 0, 0, accuracy: 50), try point(Self.start + 10, 0, 0.001),
                try point(Self.start + 20, 0, 0.002, accuracy: 5000),
            ])
        func total(_ query: String) async throws -> JSONValue? {
            try await bench.get("track/gettrack", "\(range())&\(query)")["total"]
        }
        #expect(try await total("process_option=radius_threshold=20") == .integer(3))
        #expect(try await total("is_processed=1") == .integer(3))
        #expect(try await total("is_processed=1&process_option=radius_threshold=20") == .integer(2))
        #expect(try await total("is_processed=1&process_option=denoise_grade=5") == .integer(2))
        #expect(try await total("is_processed=1&process_option=denoise_grade=5,radius_threshold=1") == .integer(1))
        func latest(_ option: String) async throws -> Double? {
            try await bench.get("track/getlatestpoint", "entity_name=van&process_option=\(option)")["latest_point"]?[
                "loc_time"]?
                .doubleValue.map { $0 - Double(Self.start) }
        }
        #expect(try await latest("") == 20)
        #expect(try await latest("radius_threshold=100") == 10)
    }

    @Test func anEntityWithoutPointsHasZeros() async throws {
        let bench = try await Bench()
        _ = try await bench.post("entity/add", "entity_name=van")
        #expect(
            await bench.text("track/getlatestpoint", "entity_name=van")
                == #"{"status":0,"message":"成功","latest_point":{"longitude":0,"latitude":0,"loc_time":0}}"#)
    }

    // MARK: Datums

    @Test func datumsAreConvertedInsideChinaOnly() async throws {
        let bench = try await Bench()
        try await bench.upload("inside", [try point(Self.start, 39.9, 116.4)])
        try await bench.upload("outside", [try point(Self.start, 52.52, 13.405)])
        try await bench.upload("labelled", [try point(Self.start, 52.52, 13.405, type: .bd09ll)])
        func latest(_ name: String, _ type: String) async throws -> JSONValue {
            try await bench.get("track/getlatestpoint", "entity_name=\(name)&coord_type_output=\(type)")["latest_point"]
                ?? .null
        }
        for (type, datum) in [("wgs84", Datum.wgs84), ("gcj02", .gcj02), ("BD09LL", .bd09), ("", .bd09)] {
            let answer = try await latest("inside", type)
            let expected = DatumConversion.convert(Degrees(latitude: 39.9, longitude: 116.4), from: .wgs84, to: datum)
            #expect(answer["coord_type"] == nil)
            #expect(abs((answer["latitude"]?.doubleValue ?? 0) - expected.latitude) < 1e-9)
            #expect(abs((answer["longitude"]?.doubleValue ?? 0) - expected.longitude) < 1e-9)
            for name in ["outside", "labelled"] {
                let outside = try await latest(name, type)
                #expect(outside["coord_type"] == .string("wgs84"))
                #expect(outside["latitude"] == .double(52.52))
                #expect(outside["longitude"] == .double(13.405))
            }
        }
    }

    @Test(arguments: CoordinateType.allCases)
    func aPointComesBackUnchangedInTheDatumItWasSentIn(type: CoordinateType) async throws {
        let bench = try await Bench()
        let body =
            "entity_name=van&latitude=31.2281234&longitude=121.4771234&loc_time=1&coord_type_input=\(type.rawValue)"
        _ = try await bench.post("track/addpoint", body)
        let answer = try await bench.get("track/getlatestpoint", "entity_name=van&coord_type_output=\(type.rawValue)")
        #expect(answer["latest_point"]?["latitude"] == .double(31.2281234))
        #expect(answer["latest_point"]?["longitude"] == .double(121.4771234))
    }

    @Test func bothGenerationsOfProcessOptionsAreRead() {
        #expect(ProcessOption(parsing: nil) == ProcessOption(parsing: "junk,=,denoise_grade=9,need_mapmatch=x"))
        let old = ProcessOption(
            parsing: " need_denoise=0 , radius_threshold=100, need_mapmatch=1,transport_mode=2,need_vacuate=1")
        #expect(old.denoiseGrade == 0)
        // Of a ride the means of travel that the client says counts, and not what uploaded speeds agree on.
        #expect(old.cleaning(AnalysisOptions()) == CleaningOptions(radiusLimit: 100, believesMotion: false))
        #expect(old.mapMatch)
        #expect(old.travel == .riding)
        #expect(old.thinning == .fine)
        #expect(
            ProcessOption(parsing: "denoise_grade=3,radius_threshold=20").cleaning(AnalysisOptions()).radiusLimit == 20)
        #expect(
            ProcessOption(parsing: "denoise_grade=3,radius_threshold=0").cleaning(AnalysisOptions()).radiusLimit == 100)
    }
}
