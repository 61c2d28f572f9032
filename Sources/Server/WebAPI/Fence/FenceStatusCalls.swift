import FenceJudging
import Geodesy
import Geofencing
import Ingest
import JSON
import TrackModel
import TrackStore

extension FenceEndpoints {
    /// `fence/querystatus`: where an entity is, as its alarms told it.
    static let status = Endpoint(
        "fence/querystatus", .get, ["monitored_person", "fence_ids", "page_index", "page_size"],
        about: \.monitoredPerson
    ) { (call, store: any FenceStore & EntityStore) in
        let (name, asked) = try await asked(call, store)
        let statuses = try await FenceStatuses(
            of: EntityKey(service: call.service, name: name), in: store, zones: call.ingest.zones)
        return answer(asked) { statuses.place(of: $0) ?? .unknown }
    }

    /// `fence/querystatusbylocation`: where an entity would be at a place. Nothing is remembered.
    static let statusByLocation = Endpoint(
        "fence/querystatusbylocation", .get,
        ["monitored_person", "fence_ids", "longitude", "latitude", "coord_type", "page_index", "page_size"],
        about: \.monitoredPerson
    ) { (call, store: any FenceStore & EntityStore) in
        guard let given = try call.place("latitude", "longitude") else {
            throw APIFailure(.parameter, "latitude and longitude are required")
        }
        let place = DatumConversion.wgs84(given, givenAs: try call.fenceDatum()).place
        guard let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude) else {
            throw APIFailure(.parameter, "latitude and longitude are no place")
        }
        let (_, asked) = try await asked(call, store)
        return answer(asked) { record in
            if record.fence.definition.isWithoutArea { return .out }
            return record.fence.shape.contains(coordinate) ? .in : .out
        }
    }

    /// The entity and its fences that a call asks about.
    private static func asked(
        _ call: APICall, _ store: any FenceStore & EntityStore
    ) async throws -> (name: String, found: ReadableFences) {
        let name = try call.person()
        guard try await store.entity(named: name, in: call.service) != nil else {
            throw APIFailure(.noMonitoredPerson, "monitored_person: \(name)")
        }
        let ids = try call.fenceIDs()
        let filter = FenceFilter(fences: ids, watch: .watching(name))
        if let ids { try await checkMonitored(ids, filter, call, store) }
        let page = ids == nil ? call.parameters.page(defaultSize: 1000, maximumSize: 1000) : (1, FenceLimits.mostFences)
        let found = try await store.readableFences(
            in: call.service, matching: filter, page: Page(offset: (page.0 - 1) * page.1, limit: page.1))
        call.note(found.problems)
        return (name, found)
    }

    private static func answer(
        _ found: ReadableFences, _ place: (FenceRecord) -> FencePair.Place
    ) -> Answer {
        Answer { answer in
            answer.member("total", found.total)
            answer.member("size", found.fences.count)
            answer.array("monitored_statuses") { list in
                for record in found.fences {
                    list.object { object in
                        object.member("fence_id", Int64(record.fence.id))
                        object.member("monitored_status", "\(place(record))")
                    }
                }
            }
        }
    }
}
