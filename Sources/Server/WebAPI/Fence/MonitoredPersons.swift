import Geofencing
import JSON
import TrackModel
import TrackStore

extension FenceEndpoints {
    /// `fence/addmonitoredperson`
    static let addPersons = Endpoint("fence/addmonitoredperson", .post, ["fence_id", "monitored_person"]) {
        (call, store: any FenceStore) in
        guard let added = try call.watch() else { throw APIFailure(.parameter, "monitored_person is required") }
        return try await edit(call, store, isAddition: true) { watch throws(FenceError) in
            added.isEveryone ? .everyone : try watch.adding(added.entities.map(\.text))
        }
    }

    /// `fence/deletemonitoredperson`: those of the names who are watched, or all of them with `#clearentity`.
    static let deletePersons = Endpoint("fence/deletemonitoredperson", .post, ["fence_id", "monitored_person"]) {
        (call, store: any FenceStore & EntityStore) in
        guard let names = try call.persons() else { throw APIFailure(.parameter, "monitored_person is required") }
        try await checkExistence(names, call, store)
        return try await edit(call, store) { watch throws(FenceError) in
            names == [clearing] ? .nobody : try watch.removing(names)
        }
    }

    /// Stands for everybody whom a fence watches.
    private static let clearing = "#clearentity"

    /// A fence never watches an entity that does not exist, so the store need not know the names.
    private static func checkExistence(
        _ names: [String], _ call: APICall, _ store: any FenceStore & EntityStore
    ) async throws {
        guard names != [clearing] else { return }
        _ = try await fence(call, store)
        for name in names {
            let entity = try await store.entity(named: name, in: call.service)
            guard entity != nil else { throw APIFailure(.noMonitoredPerson, "monitored_person: \(name)") }
        }
    }

    // Not inlined: with sanitizers the compiler (6.3.1) crashes on it inside a closure that has waited before.
    @inline(never)
    private static func edit(
        _ call: APICall, _ store: any FenceStore, isAddition: Bool = false,
        _ change: @Sendable (FenceSubjects) throws(FenceError) -> FenceSubjects
    ) async throws -> Answer {
        let record = try await fence(call, store)
        // The first one whom a fence watches makes it a fence of one entity. A removal can do so too: it is never refused.
        let watch = record.fence.definition.watch
        if isAddition, let changed = try? change(watch), changed != watch {
            try await checkPrivateFences(changed, call, store)
        }
        let changed = try await store.editFence(record.fence.id, in: call.service, at: call.now) {
            definition throws(TrackStoreError) in
            var definition = definition
            do throws(FenceError) {
                definition.watch = try change(definition.watch)
            } catch {
                throw TrackStoreError(.refusedFence, "monitored_person: \(error)")
            }
            return definition
        }
        call.charge(for: changed.fence.definition, watching: watch)
        return .done
    }

    /// `fence/listmonitoredperson`
    static let listPersons = Endpoint(
        "fence/listmonitoredperson", .get, ["fence_id", "page_index", "page_size"],
        reading: { call, store in try await fence(call, store).fence.definition.watch }, about: \.subject
    ) { (watch, call, store: any FenceStore) in
        let names = watch.isEveryone ? [FenceSubjects.everyoneName] : watch.entities.map(\.text)
        let page = call.parameters.page(defaultSize: 100, maximumSize: 1000)
        let shown = names.dropFirst((page.index - 1) * page.size).prefix(page.size)
        return Answer { answer in
            answer.member("total", names.count)
            answer.member("size", shown.count)
            answer.array("monitored_person") { list in
                for name in shown { list.string(name) }
            }
        }
    }
}
