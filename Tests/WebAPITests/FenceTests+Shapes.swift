import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

/// Fences that an import made, and that the published API cannot make.
extension FenceTests {
    private func kept(_ bench: Bench, _ shape: ShapeDraft, _ change: (inout FenceDefinition) -> Void = { _ in })
        async throws -> Int64
    {
        var definition = FenceDefinition(shape)
        definition.watch = .everyone
        change(&definition)
        return Int64(try await bench.store.createFence(definition, in: bench.service, at: Bench.now).fence.id)
    }

    private func listed(_ bench: Bench, _ id: Int64) async throws -> JSONValue {
        let answer = try await bench.get("fence/list", "fence_ids=\(id)&coord_type_output=wgs84")
        return try #require(answer["fences"]?.items.first)
    }

    private func shape(_ bench: Bench, _ id: Int64) async throws -> FenceDefinition {
        try #require(try await bench.store.fence(Int32(id), in: bench.service)).fence.definition
    }

    private static func ring(_ south: Double, _ west: Double, _ side: Double = 0.01) -> [Degrees] {
        [(0, 0), (0, side), (side, side), (side, 0)].map { Degrees(latitude: south + $0.0, longitude: west + $0.1) }
    }

    @Test func aPointWithMetresAroundItIsACircle() async throws {
        let bench = try await bench()
        let id = try await kept(bench, ShapeDraft(.point(Degrees(latitude: 40, longitude: 116)), buffer: 50))
        let fence = try await listed(bench, id)
        #expect(fence["shape"] == "circle" && fence["radius"] == 50 && fence["latitude"] == 40)
        #expect(fence["vertexes"] == nil && fence["buffer"] == nil)
        let place = "monitored_person=van&coord_type=wgs84&latitude=40.0001&longitude=116"
        let status = try await bench.get("fence/querystatusbylocation", place)
        #expect(status["monitored_statuses"]?.items.first?["monitored_status"] == "in")
        #expect(try await bench.post("fence/updatecirclefence", "fence_id=\(id)&radius=70").status == 0)
        #expect(
            try await shape(bench, id).shape
                == ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 70)))
        // A polygon without area stays one.
        let none = try await make(bench, "polygon", "vertexes=40,116;40,116;40,116&coord_type=wgs84")
        #expect(try await listed(bench, none)["shape"] == "polygon")
        #expect(try await bench.post("fence/updatecirclefence", "fence_id=\(none)&radius=70").status == 2)
    }

    @Test func holesPartsAndBuffersAreShown() async throws {
        for options in [WebAPIOptions(), WebAPIOptions(fenceVertices: .text)] {
            let bench = try await bench(options)
            let id = try await kept(
                bench,
                ShapeDraft(
                    .polygon([[Self.ring(40, 116), Self.ring(40.004, 116.004, 0.002)], [Self.ring(41, 116)]]),
                    buffer: 12.5))
            let fence = try await listed(bench, id)
            #expect(fence["buffer"] == 12.5)
            let parts = fence["parts"]?.items ?? []
            #expect(parts.map(\.items.count) == [2, 1])
            if options.fenceVertices == .text {
                #expect(parts.first?.items.last == "40.004,116.004;40.004,116.006;40.006,116.006;40.006,116.004")
            } else {
                #expect(fence["vertexes"]?.items.count == 4)
                #expect(parts.last?.items.first?.items.first == ["longitude": 116, "latitude": 41])
            }
            let plain = try await kept(bench, ShapeDraft(.polygon([[Self.ring(40, 116)]])))
            #expect(try await listed(bench, plain)["parts"] == nil)
            let circle = try await kept(
                bench, ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 5), buffer: 3))
            #expect(try await listed(bench, circle)["radius"] == 5)
            #expect(try await listed(bench, circle)["buffer"] == 3)
        }
    }

    /// The API cannot give a buffer or hours, so no call of it takes them away.
    @Test func anUpdateKeepsWhatTheAPIDoesNotKnow() async throws {
        let bench = try await bench()
        let centre = Degrees(latitude: 40, longitude: 116)
        let circle = try await kept(bench, ShapeDraft(.circle(centre: centre, radius: 5), buffer: 3))
        for (body, outline) in [
            ("radius=7", ShapeDraft.Outline.circle(centre: centre, radius: 7)),
            (
                "latitude=41&longitude=116&coord_type=wgs84",
                .circle(centre: Degrees(latitude: 41, longitude: 116), radius: 7)
            ),
        ] {
            #expect(try await bench.post("fence/updatecirclefence", "fence_id=\(circle)&\(body)").status == 0)
            #expect(try await shape(bench, circle).shape == ShapeDraft(outline, buffer: 3))
        }
        let line = Self.ring(40, 116)
        let corridor = try await kept(bench, ShapeDraft(.corridor(line, offset: 50), buffer: 4))
        #expect(try await bench.post("fence/updatepolylinefence", "fence_id=\(corridor)&offset=60").status == 0)
        #expect(try await shape(bench, corridor).shape == ShapeDraft(.corridor(line, offset: 60), buffer: 4))
        let route = "fence_id=\(corridor)&vertexes=40,116;40,116.1&coord_type=wgs84"
        #expect(try await bench.post("fence/updatepolylinefence", route).status == 0)
        #expect(try await shape(bench, corridor).shape.buffer == 4)
        let polygon = try await kept(bench, ShapeDraft(.polygon([[Self.ring(40, 116)]]), buffer: 2)) { definition in
            var validity = FenceValidity()
            validity.from = Timestamp(seconds: 1)
            definition.validity = validity
        }
        let corners = "fence_id=\(polygon)&vertexes=40,116;40,117;41,117&coord_type=wgs84"
        #expect(try await bench.post("fence/updatepolygonfence", corners).status == 0)
        #expect(try await shape(bench, polygon).shape.buffer == 2)
        #expect(try await shape(bench, polygon).validity?.from == Timestamp(seconds: 1))
        // One without area counts again when it gets an area, and no longer when it loses it.
        let flat = "fence_id=\(polygon)&vertexes=40,116;40,116;40,116&coord_type=wgs84"
        #expect(try await bench.post("fence/updatepolygonfence", flat).status == 0)
        #expect(try await shape(bench, polygon).isWithoutArea)
        #expect(try await bench.post("fence/updatepolygonfence", corners).status == 0)
        #expect(try await shape(bench, polygon).validity == nil)
    }

    @Test func aLineIsShorterThanFiveHundredKilometres() async throws {
        let bench = try await bench()
        // Along the equator: 111.3195 km a degree.
        let short = "vertexes=0,30;0,34.49&offset=50&coord_type=wgs84"
        let long = "vertexes=0,30;0,34.492&offset=50&coord_type=wgs84"
        let id = try await make(bench, "polyline", short)
        for call in ["fence/createpolylinefence", "fence/updatepolylinefence"] {
            let refused = try await bench.post(call, "fence_id=\(id)&" + long)
            #expect(refused.status == 2)
            #expect(
                refused["message"]?.stringValue?.contains("under 500 km, and this one has 501 km") == true, "\(refused)"
            )
        }
        // The line that is there is not asked again.
        #expect(try await bench.post("fence/updatepolylinefence", "fence_id=\(id)&offset=60").status == 0)
    }

    @Test func addingTheOnlyOneCountsAsAFenceOfItsOwn() async throws {
        let bench = try await bench()
        for _ in 0..<100 { _ = try await make(bench, "circle", Self.circle + "&monitored_person=van") }
        let idle = try await make(bench, "circle", Self.circle)
        let refused = try await bench.post("fence/addmonitoredperson", "fence_id=\(idle)&monitored_person=van")
        #expect(refused.status == 5101)
        let watched = try await bench.get("fence/listmonitoredperson", "fence_id=\(idle)")
        #expect(watched["monitored_person"] == [])
        // Those that others watch, too, do not count; nor does one that is the van's already.
        for (fence, persons) in [(idle, "bus"), (idle, "van"), (1, "van"), (1, "bus")] as [(Int64, String)] {
            let body = "fence_id=\(fence)&monitored_person=\(persons)"
            #expect(try await bench.post("fence/addmonitoredperson", body).status == 0, "\(body)")
        }
    }
}
