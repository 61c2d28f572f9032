import JSON
import TrackModel
import TrackStore

extension TrackEndpoints {
    /// `track/getlatestpoint`
    static let latestPoint = Endpoint(
        "track/getlatestpoint", .get, ["entity_name", "coord_type_output", "process_option"], about: \.namedEntity
    ) { (call, store: any EntityStore & PointStore & ColumnStore) in
        let name = try call.entityName()
        let points = try await call.pointWriter(store)
        let option = ProcessOption(parsing: call.parameters["process_option"])
        guard let record = try await store.entity(named: name, in: call.service) else { throw APIFailure(.noEntity) }
        guard let latest = record.latest else {
            // What the published service says of an entity without points.
            return Answer { answer in
                answer.object("latest_point") {
                    for name in ["longitude", "latitude", "loc_time"] { $0.member(name, 0) }
                }
            }
        }
        let shown = try await newest(of: name, latest: latest, within: option.radiusLimit, call, store)
        return Answer { answer in answer.object("latest_point") { points.write(shown.point, to: &$0) } }
    }

    /// The newest point of the last day that is accurate enough; the newest of all when none is.
    private static func newest(
        of name: String, latest: StoredPoint, within limit: Int?, _ call: APICall, _ store: any PointStore
    ) async throws -> StoredPoint {
        guard let limit, !latest.point.isWithin(radius: limit) else { return latest }
        let time = latest.point.fix.time
        let day = try await store.track(
            of: name, in: call.service, from: time.adding(milliseconds: -maximumRange * 1000), through: time,
            limit: call.options.maximumRawPoints)
        call.note(day.holes)
        return day.points.last { $0.point.isWithin(radius: limit) } ?? latest
    }
}

extension TrackPoint {
    /// True also when the accuracy is not known: no rule about it can be applied.
    func isWithin(radius metres: Int) -> Bool {
        fix.accuracy.map { Int($0) <= metres * 10 } ?? true
    }
}
