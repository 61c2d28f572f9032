import Geofencing
import JSON
import TrackModel
import TrackStore

extension FenceEndpoints {
    /// `fence/list`: of an entity, of everyone, of some, or by numbers.
    static let list = Endpoint(
        "fence/list", .get, ["monitored_person", "fence_ids", "coord_type_output", "page_index", "page_size"],
        about: \.monitoredPerson
    ) { (call, store: any FenceStore & ServiceStore) in
        let ids = try call.fenceIDs()
        let person = call.parameters["monitored_person"] == nil ? nil : try call.person()
        guard ids != nil || person != nil else {
            throw APIFailure(.parameter, "give monitored_person, fence_ids, or both")
        }
        let watch: FenceFilter.Watch =
            switch person {
            case nil: .any
            case FenceWatch.everyoneName?: .everyone
            case "#partofentity"?: .several
            case let name?: .watching(name)
            }
        var page = call.parameters.page(defaultSize: 1000, maximumSize: 1000)
        if person == nil { page = (1, FenceLimits.mostFences) }
        let vertices = try await store.answers(of: call.service).vertices ?? call.options.fenceVertices
        let writer = FenceWriter(coordinateType: try call.outputType(), clock: call.clock, vertices: vertices)
        let found = try await store.readableFences(
            in: call.service, matching: FenceFilter(fences: ids, watch: watch),
            page: Page(offset: (page.index - 1) * page.size, limit: page.size))
        call.note(found.problems)
        return Answer { answer in
            answer.member("total", found.total)
            answer.member("size", found.fences.count)
            answer.array("fences") { list in
                for record in found.fences { list.object { writer.write(record.fence, to: &$0) } }
            }
            if !found.problems.isEmpty { answer.member("unreadable", found.problems.count) }
        }
    }
}
