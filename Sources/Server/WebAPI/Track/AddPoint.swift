import Ingest
import TrackStore

extension TrackEndpoints {
    /// `track/addpoint`
    static let addPoint = Endpoint(
        "track/addpoint", .post, UploadedPoint.fields, columns: .track, about: \.namedEntity
    ) { (call, store: any ColumnStore & EntityStore) in
        try call.checkClock()
        var parameters = call.parameters
        parameters["entity_name"] = parameters["entity_name"] ?? call.caller.entity
        let uploaded = UploadedPoint(parameters)
        let columns = try await store.columns(of: .track, in: call.service)
        let batch: IngestBatch
        do throws(APIFailure) {
            batch = call.batch(
                of: try uploaded.entityName(),
                [try uploaded.point(now: call.now, options: call.options, columns: columns)])
        } catch {
            // Another status than this says it all.
            throw error.status == .parameter ? error : APIFailure(error.status)
        }
        if let problem = try await store.problem(withName: batch.entity, in: call.service) {
            throw APIFailure(.parameter, "entity_name: \(problem)")
        }
        if case .failure(let error) = await call.ingest.submit([batch]).first { throw error }
        return .done
    }
}
