import Ingest
import TrackModel
import TrackStore

extension APICall {
    /// Points in one `track/addpoints`.
    static let maximumPoints = 100

    /// `track/addpoint`
    func addPoint() async throws(APIFailure) -> [JSON.Member] {
        var parameters = parameters
        parameters["entity_name"] = parameters["entity_name"] ?? caller.entity
        let uploaded = UploadedPoint(parameters)
        let columns = try await columns(of: .track)
        let batch: IngestBatch
        do throws(UploadedPoint.Problem) {
            batch = self.batch(
                of: try uploaded.entityName(), [try uploaded.point(now: now, options: options, columns: columns)])
        } catch {
            throw APIFailure(error.status, error.status == .parameter ? error.detail : "")
        }
        if case .failure(let error) = await ingest.submit([batch]).first { throw failure(error) }
        return []
    }

    /// `track/addpoints`
    func addPoints() async throws(APIFailure) -> [JSON.Member] {
        let list = try pointList()
        guard list.count <= Self.maximumPoints else { throw APIFailure(.tooManyPointsUploaded) }
        let columns = try await columns(of: .track)
        var refused: [JSON] = []
        var failed: [JSON] = []
        // One batch an entity, in the order in which the entities first appear, points in the order of the list. Names
        // are told apart by their bytes: equivalent spellings are one to String, but not to the store.
        var order: [[UInt8]: Int] = [:]
        var groups: [(name: String, points: [(uploaded: UploadedPoint, point: TrackPoint)])] = []
        for item in list {
            let uploaded = UploadedPoint(item)
            do throws(UploadedPoint.Problem) {
                guard case .object = item else {
                    throw UploadedPoint.Problem(status: .parameter, detail: "not an object")
                }
                let name = try uploaded.entityName()
                let point = try uploaded.point(now: now, options: options, columns: columns)
                let index = order[Array(name.utf8), default: groups.count]
                if index == groups.count {
                    order[Array(name.utf8)] = index
                    groups.append((name, []))
                }
                groups[index].points.append((uploaded, point))
            } catch {
                refused.append(uploaded.echo(error: error.detail))
            }
        }
        var stored = 0
        if !groups.isEmpty {
            let results = await ingest.submit(groups.map { batch(of: $0.name, $0.points.map(\.point)) })
            for ((_, points), result) in zip(groups, results) {
                guard case .failure(let error) = result else {
                    stored += points.count
                    continue
                }
                let failure = failure(error)
                if failure.status == .unknownService { throw failure }
                failed += points.map { $0.uploaded.echo(error: failure.message) }
            }
        }
        var members = [JSON.Member("success_num", .integer(stored))]
        if refused.isEmpty && failed.isEmpty { return members }
        members.append(
            JSON.Member(
                "fail_info",
                .object([JSON.Member("param_error", .array(refused)), JSON.Member("internal_error", .array(failed))])))
        if stored == 0 {
            throw APIFailure(failed.isEmpty ? .parameter : .internalError, "no point was stored", members: members)
        }
        return members
    }

    func pointList() throws(APIFailure) -> [JSON] {
        let text = try parameters.required("point_list")
        let value: JSON
        do throws(JSONReader.Failure) {
            value = try JSONReader.read(Array(text.utf8))
        } catch {
            throw APIFailure(.parameter, "point_list is not JSON: \(error.reason) at byte \(error.offset)")
        }
        guard case .array(let list) = value else { throw APIFailure(.parameter, "point_list must be a JSON array") }
        guard !list.isEmpty else { throw APIFailure(.parameter, "point_list is empty") }
        return list
    }

    private func batch(of entity: String, _ points: [TrackPoint]) -> IngestBatch {
        IngestBatch(
            service: caller.service, entity: entity, position: nil, points: points, sequences: [], payload: nil,
            received: now)
    }
}
