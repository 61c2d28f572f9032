import Geofencing
import Ingest
import JSON
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

/// Calls about fences of which one cannot be read.
@Suite struct RottenFenceTests {
    /// Cannot read the fence 2.
    private struct RottenStore: StoreDecorator {
        let inner: any EngineStore

        func fences(
            in service: ServiceID, matching filter: FenceFilter, page: Page
        ) async throws(TrackStoreError) -> (total: Int, fences: [FenceRecord]) {
            let found = try await inner.fences(in: service, matching: filter, page: page)
            guard !found.fences.contains(where: { $0.fence.id == 2 }) else {
                throw TrackStoreError(.corrupt, "the fence 2 cannot be read")
            }
            return found
        }

        func readableFences(
            in service: ServiceID, matching filter: FenceFilter, page: Page
        ) async throws(TrackStoreError) -> ReadableFences {
            var found = try await inner.readableFences(in: service, matching: filter, page: page)
            if found.fences.contains(where: { $0.fence.id == 2 }) {
                found.unreadable = [UnreadableFence(fence: 2, reason: "the fence 2 cannot be read")]
            }
            found.fences.removeAll { $0.fence.id == 2 }
            return found
        }
    }

    /// Fences 1 to 3 of the van; the bus has the third one too.
    private func bench() async throws -> Bench {
        let bench = try await Bench(store: RottenStore(inner: TestStore()))
        for name in ["van", "bus"] { #expect(try await bench.post("entity/add", "entity_name=\(name)").status == 0) }
        for person in ["van", "van", "van,bus"] {
            let answer = try await bench.post(
                "fence/createcirclefence", "latitude=40&longitude=116&radius=80&monitored_person=\(person)")
            #expect(answer.status == 0)
        }
        return bench
    }

    @Test func itIsDeletedByItsNumberAndTheOneThatItWatches() async throws {
        let bench = try await bench()
        let wrong = try await bench.post("fence/delete", "fence_ids=2,3&monitored_person=bus")
        #expect(wrong.status == 5103)
        let deleted = try await bench.post("fence/delete", "fence_ids=2,1&monitored_person=van")
        #expect(deleted.status == 0)
        #expect(deleted["fence_ids"]?.items.map(\.integerValue) == [1, 2])
        #expect(try await bench.get("fence/list", "monitored_person=van")["total"]?.integerValue == 1)
    }

    /// A session may delete what watches its entity alone, also when it cannot be read, and nothing that others share.
    @Test func aSessionDeletesOnlyWhatIsItsOwn() async throws {
        let bench = try await bench()
        func delete(_ ids: String, _ policy: DevicePolicy = .entity) async -> Int {
            await bench.router.call(
                service: bench.service, entity: "van", path: "fence/delete",
                parameters: ["fence_ids": ids, "monitored_person": "van"], policy: policy
            ).status
        }
        #expect(await delete("2,3") == 240)
        // The operator made it.
        #expect(await delete("2") == 240)
        #expect(await delete("2", .service) == 0)
    }

    @Test func theStatusOfTheOthersIsAnswered() async throws {
        let answer = try await bench().get("fence/querystatus", "monitored_person=van&fence_ids=1,2,3")
        #expect(answer.status == 0)
        #expect(answer["monitored_statuses"]?.items.compactMap { $0["fence_id"]?.integerValue } == [1, 3])
    }
}
