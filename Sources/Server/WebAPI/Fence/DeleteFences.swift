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
        if !deleted.isEmpty {
            call.noteRemoval(
                "fences are removed", of: deleted.prefix(20).map { "\($0)" }.joined(separator: ","), deleted.count)
        }
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
            let name = call.parameters["monitored_person"] == nil ? nil : try call.person()
            var (wanted, subject): (FenceFilter, CallSubject)
            switch (try call.fenceIDs(), name) {
            case (nil, nil): throw APIFailure(.parameter, "give fence_ids, monitored_person, or both")
            case (nil, let name?):
                (wanted, subject) = (FenceFilter(watch: .only(name)), call.monitoredPerson)
            case (let ids?, nil):
                (wanted, subject) = (FenceFilter(fences: ids), .wholeService)
            case (let ids?, let name?):
                wanted = FenceFilter(fences: ids, watch: .naming(name))
                try await checkMonitored(ids, wanted, call, store)
                // Not read: a fence that cannot be read can be deleted.
                let alone = FenceFilter(fences: ids, watch: .only(name))
                let own = try await store.fences(in: call.service, matching: alone, page: Page(offset: 0, limit: 0))
                subject = own.total == Set(ids).count ? call.monitoredPerson : .wholeService
            }
            if subject != .wholeService, let others = try await othersFences(wanted, call, store) { subject = others }
            // Also those that the operator makes in this moment stay.
            if let vehicle = call.caller.limitedVehicle { wanted.maker = .vehicle(vehicle) }
            (filter, self.subject) = (wanted, subject)
        }
    }

    /// The fences that match and that the asking vehicle did not make; nil when there are none, or when a key asks.
    static func othersFences(
        _ filter: FenceFilter, _ call: APICall, _ store: any FenceStore
    ) async throws -> CallSubject? {
        guard let vehicle = call.caller.limitedVehicle else { return nil }
        var filter = filter
        filter.maker = .otherThan(vehicle)
        let found = try await store.readableFences(
            in: call.service, matching: filter, page: Page(offset: 0, limit: 1))
        guard let first = found.fences.first?.fence.id ?? found.unreadable.first?.fence else { return nil }
        return .fencesOfOthers(first: first, count: found.total)
    }

    /// Each of the fences has to match, whether it can be read or not.
    static func checkMonitored(
        _ ids: [Int32], _ filter: FenceFilter, _ call: APICall, _ store: any FenceStore
    ) async throws {
        let found = try await store.readableFences(
            in: call.service, matching: filter, page: Page(offset: 0, limit: ids.count))
        let numbers = Set(found.fences.map(\.fence.id) + found.unreadable.map(\.fence))
        if let missing = ids.first(where: { !numbers.contains($0) }) {
            throw APIFailure(.notMonitored, "fence_ids: \(missing)")
        }
    }
}
