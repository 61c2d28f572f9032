import Geodesy
import JSON
import Testing
import TrackAnalysis

@testable import RoadMatching

@Suite struct RequestTests {
    @Test func aTraceAsksForWhatIsRead() throws {
        let samples = [sample(0, 0, along: 0, radius: 6), sample(1, 5.5, along: 50, radius: 300)]
        let request = TraceRequest.request(for: samples, .car)
        #expect(request.method == .post && request.path == "/trace_attributes")
        let json = try JSONReader.value(of: request.body)
        #expect(json["costing"] == .string("auto") && json["shape_match"] == .string("map_snap"))
        let shape = try #require(json["shape"]?.arrayValue)
        #expect(shape[0]["lat"] == .integer(47) && shape[0]["lon"] == .integer(9))
        #expect(shape[0]["time"] == .integer(1_767_600_000) && shape[1]["time"] == .double(1_767_600_005.5))
        // The engine takes no accuracy over 100 m.
        #expect(shape.map { $0["accuracy"] } == [.integer(6), .integer(100)])
        #expect(json["filters"]?["attributes"]?.arrayValue?.contains(.string("edge.source_percent_along")) == true)
        let bare = try JSONReader.value(of: TraceRequest.request(for: [sample(0, 0, along: 0)], .bicycle).body)
        #expect(bare["shape"]?.arrayValue?[0]["accuracy"] == nil && bare["costing"] == .string("bicycle"))
    }

    @Test func aRouteAlwaysBoundsItsSearch() throws {
        let request = RouteRequest.request(
            from: Degrees(latitude: 42.5, longitude: -1.25), to: Degrees(latitude: 42.6, longitude: 1), .pedestrian,
            heading: 359.7)
        #expect(request.path == "/route")
        let json = try JSONReader.value(of: request.body)
        let ends = try #require(json["locations"]?.arrayValue)
        #expect(ends.map { $0["search_cutoff"] } == [.integer(100), .integer(100)])
        #expect(ends.map { $0["heading"] } == [.integer(0), nil])
        #expect(ends[0]["lat"] == .double(42.5) && ends[0]["lon"] == .double(-1.25))
        #expect(json["costing"] == .string("pedestrian") && json["format"] == .string("osrm"))
    }

    @Test func costingsFollowTheMode() {
        #expect(TravelMode.allCases.map { RoadCosting.of($0, driving: .bus) } == [.bus, .bus, .bicycle, .pedestrian])
        #expect(RoadCosting.of(.automatic).rawValue == "auto")
        #expect(RoadRequest.status.path == "/status" && RoadRequest.status.method.rawValue == "GET")
    }
}
