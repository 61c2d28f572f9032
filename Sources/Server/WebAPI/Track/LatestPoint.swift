import JSON
import RoadMatching
import TrackAnalysis
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
            return Answer { $0.object("latest_point") { PointWriter.writeNothing(to: &$0) } }
        }
        let shown = try await newest(of: name, latest: latest.point, option.cleaning, call, store)
        let road = option.mapMatch ? try await LatestRoad(under: shown, of: name, option, call, store) : nil
        return Answer { answer in
            answer.object("latest_point") {
                points.write(road?.point ?? shown, to: &$0)
                road?.label?.write(to: &$0)
            }
            if let limit = road?.limit { answer.member("limit_speed", limit) }
            road?.state.write(call.options, to: &answer)
        }
    }

    /// Milliseconds before the latest point that are read to judge it: ten minutes, and a day when nothing in them passes.
    private static let tails: [Int64] = [600_000, 86_400_000]
    /// Points of one tail. The operator's limits are those of a range that the client has chosen: here it has chosen none.
    private static let mostPoints = 200_000

    /// The newest point that the cleaning keeps; the newest of all when it keeps none of the last day.
    private static func newest(
        of name: String, latest: TrackPoint, _ options: CleaningOptions, _ call: APICall, _ store: any PointStore
    ) async throws -> TrackPoint {
        var options = options
        options.collapsesStops = false
        guard options != CleaningOptions() else { return latest }
        for span in tails {
            let range = TrackRange(
                service: call.service, entity: ExactName(name), from: latest.fix.time.adding(milliseconds: -span),
                through: latest.fix.time)
            var tail: [TrackPoint]
            do {
                tail = try await range.readOnce(call, store, limit: mostPoints).points.map(\.point)
            } catch let error as TrackStoreError where error.code == .tooManyPoints {
                return latest
            }
            // The latest point may have been told ahead of its track.
            if tail.last?.fix.time != latest.fix.time { tail.append(latest) }
            let columns = TrackColumns(tail)
            guard !TrackCleaner.clean(columns, options).samples.isEmpty else { continue }
            return LatestPoint.index(in: columns, options, now: call.now.milliseconds).map { tail[$0] } ?? latest
        }
        return latest
    }
}
