import JSON
import TrackModel
import TrackStore

extension TrackEndpoints {
    /// `track/getlatestpoint`
    static let latestPoint = Endpoint(
        "track/getlatestpoint", .get, ["entity_name", "coord_type_output", "process_option", "explain"],
        about: \.namedEntity
    ) { (call, store: any EntityStore & PointStore & ColumnStore) in
        let name = try call.entityName()
        let points = try await call.pointWriter(store)
        let option = ProcessOption(parsing: call.parameters["process_option"])
        let explanation = try Explanation(parsing: call.parameters["explain"])
        guard let record = try await store.entity(named: name, in: call.service) else { throw APIFailure(.noEntity) }
        guard let latest = record.latest else {
            return Answer { $0.object("latest_point") { PointWriter.writeNothing(to: &$0) } }
        }
        let reading = try await LatestReading(of: name, latest: latest.point, option, call, store)
        let road = option.mapMatch ? try await LatestRoad(under: reading.point, of: name, option, call, store) : nil
        return Answer { answer in
            answer.object("latest_point") {
                points.write(road?.point ?? reading.point, to: &$0)
                ShownPoint.Processing(travel: reading.travel, road: road?.label).write(reading.point.fix, to: &$0)
            }
            if let limit = road?.limit { answer.member("limit_speed", limit) }
            road?.state.write(call.options, to: &answer)
            explanation.write(reading.dropped, points, to: &answer)
        }
    }
}
