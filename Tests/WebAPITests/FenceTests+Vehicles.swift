import Ingest
import Testing

@testable import WebAPI

// Calls through a vehicle's connection.
extension FenceTests {
    @Test func aVehicleMayAskAboutItsOwnFencesAlone() async throws {
        let bench = try await bench()
        let own = try await make(bench, "circle", Self.circle + "&monitored_person=van")
        let other = try await make(bench, "circle", Self.circle + "&monitored_person=bus")
        func call(_ path: String, _ parameters: [String: String]) async -> Int {
            await bench.router.call(
                service: bench.service, entity: "van", path: path, parameters: parameters, policy: .entity
            ).status
        }
        #expect(await call("fence/list", ["monitored_person": "van"]) == 0)
        #expect(await call("fence/list", ["monitored_person": "bus"]) == 240)
        #expect(await call("fence/list", ["fence_ids": "\(own)"]) == 240)
        #expect(await call("fence/querystatus", ["monitored_person": "van"]) == 0)
        #expect(await call("fence/historyalarm", ["monitored_person": "bus"]) == 240)
        #expect(await call("fence/batchhistoryalarm", ["start_time": "1", "end_time": "2"]) == 240)
        let circle = ["latitude": "40", "longitude": "116", "radius": "5"]
        #expect(await call("fence/createcirclefence", circle) == 240)
        #expect(await call("fence/createcirclefence", circle.merging(["monitored_person": "van"]) { $1 }) == 0)
        #expect(await call("fence/createcirclefence", circle.merging(["monitored_person": "van,bus"]) { $1 }) == 240)
        // The operator made the first one, and the vehicle the third.
        #expect(await call("fence/updatecirclefence", ["fence_id": "\(own)", "radius": "6"]) == 240)
        #expect(await call("fence/updatecirclefence", ["fence_id": "3", "radius": "6"]) == 0)
        #expect(await call("fence/updatecirclefence", ["fence_id": "\(other)", "radius": "6"]) == 240)
        #expect(await call("fence/updatecirclefence", ["fence_id": "\(own)", "monitored_person": "bus"]) == 240)
        #expect(await call("fence/addmonitoredperson", ["fence_id": "\(own)", "monitored_person": "bus"]) == 240)
        let shared = try await make(bench, "circle", Self.circle + "&monitored_person=van,bus")
        #expect(await call("fence/delete", ["monitored_person": "van", "fence_ids": "\(shared)"]) == 240)
        #expect(await call("fence/delete", ["monitored_person": "van"]) == 240)
        #expect(await call("fence/delete", ["monitored_person": "van", "fence_ids": "3"]) == 0)
    }
}
