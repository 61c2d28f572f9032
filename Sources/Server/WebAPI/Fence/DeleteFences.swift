import Geofencing
import JSON
import TrackStore

extension FenceEndpoints {
    /// `fence/delete`: by numbers, by the one entity that they watch, or both.
    static let delete = Endpoint(
        "fence/delete", .post, ["fence_ids", "monitored_person"],
        reading: { call, store in try await Deletion(call, store) }, about: \.subject
    ) { (deletion, call, store: any FenceStore) in
        let deleted = try await store.deleteFences(matching: deletion.filter, in: call.service, at: call.now)
        return Answer { answer in
            answer.array("fence_ids") { list in
                for id in deleted { list.integer(Int64(id)) }
            }
        }
    }

    private struct Deletion: Sendable {
        let filter: FenceFilter
        /// A fence that watches others too is theirs as well.
        let subject: CallSubject

        init(_ call: APICall, _ store: any FenceStore) async throws {
            switch (try call.fenceIDs(), call.parameters["monitored_person"]) {
            case (nil, nil): throw APIFailure(.parameter, "give fence_ids, monitored_person, or both")
            case (nil, let name?):
                filter = FenceFilter(watch: .only(name))
                subject = call.monitoredPerson
            case (let ids?, nil):
                filter = FenceFilter(fences: ids)
                subject = .wholeService
            case (let ids?, let name?):
                filter = FenceFilter(fences: ids, watch: .naming(name))
                let found = try await checkMonitored(ids, filter, call, store)
                let isOwn = found.allSatisfy { $0.fence.definition.watch.subject == .entities([name]) }
                subject = isOwn ? call.monitoredPerson : .wholeService
            }
        }
    }

    /// Each of the fences has to match.
    @discardableResult
    static func checkMonitored(
        _ ids: [Int32], _ filter: FenceFilter, _ call: APICall, _ store: any FenceStore
    ) async throws -> [FenceRecord] {
        let found = try await store.fences(
            in: call.service, matching: filter, page: Page(offset: 0, limit: ids.count)
        ).fences
        let numbers = Set(found.map(\.fence.id))
        if let missing = ids.first(where: { !numbers.contains($0) }) {
            throw APIFailure(.notMonitored, "fence_ids: \(missing)")
        }
        return found
    }
}
