import Geofencing
import JSON
import TrackStore

extension FenceEndpoints {
    /// `fence/delete`: by numbers, by the one entity that they watch, or both.
    static let delete = Endpoint(
        "fence/delete", .post, ["fence_ids", "monitored_person"], about: \.monitoredPerson
    ) { (call, store: any FenceStore) in
        let filter: FenceFilter
        switch (try call.fenceIDs(), call.parameters["monitored_person"]) {
        case (nil, nil): throw APIFailure(.parameter, "give fence_ids, monitored_person, or both")
        case (nil, let name?): filter = FenceFilter(watch: .only(name))
        case (let ids?, nil): filter = FenceFilter(fences: ids)
        case (let ids?, let name?):
            filter = FenceFilter(fences: ids, watch: .naming(name))
            try await checkMonitored(ids, filter, call, store)
        }
        let deleted = try await store.deleteFences(matching: filter, in: call.service, at: call.now)
        return Answer { answer in
            answer.array("fence_ids") { list in
                for id in deleted { list.integer(Int64(id)) }
            }
        }
    }

    /// Each of the fences has to match.
    static func checkMonitored(
        _ ids: [Int32], _ filter: FenceFilter, _ call: APICall, _ store: any FenceStore
    ) async throws {
        let found = try await store.fences(
            in: call.service, matching: filter, page: Page(offset: 0, limit: ids.count)
        ).fences.map(\.fence.id)
        if let missing = ids.first(where: { !found.contains($0) }) {
            throw APIFailure(.notMonitored, "fence_ids: \(missing)")
        }
    }
}
