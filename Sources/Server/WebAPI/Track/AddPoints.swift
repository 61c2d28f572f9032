import Ingest
import JSON
import TrackModel
import TrackStore

extension TrackEndpoints {
    /// Points in one `track/addpoints`.
    private static let maximumPoints = 100

    /// `track/addpoints`
    static let addPoints = Endpoint(
        "track/addpoints", .post, ["point_list"], reading: { call, _ in try call.pointList() }, about: subject
    ) { (list, call, store: any ColumnStore & EntityStore) in
        try call.checkClock()
        guard list.count <= maximumPoints else { throw APIFailure(.tooManyPointsUploaded) }
        var upload = Upload(list, columns: try await store.columns(of: .track, in: call.service), call)
        try await upload.refuseUnfitNames(call, store)
        if !upload.groups.isEmpty {
            let results = await call.ingest.submit(
                upload.groups.map { call.batch(of: $0.entity.text, $0.points.map(\.point)) })
            for (group, result) in zip(upload.groups, results) {
                guard case .failure(let error) = result else {
                    upload.stored += group.points.count
                    continue
                }
                let failure = call.failure(error)
                if failure.status == .unknownService { throw failure }
                upload.failed += group.points.map { ($0.uploaded, failure.message) }
            }
        }
        return upload.answer
    }

    /// Points without a name are refused one by one.
    @Sendable private static func subject(of list: [JSONValue]) -> CallSubject {
        .entities(list.compactMap { try? UploadedPoint($0).entityName() })
    }

    /// A list of points on its way into the store.
    private struct Upload {
        /// The points of one entity, in the order of the list.
        struct Group {
            let entity: ExactName
            var points: [(uploaded: UploadedPoint, point: TrackPoint)] = []
        }

        /// In the order in which the entities first appear.
        var groups: [Group] = []
        var stored = 0
        /// Points that break a rule, with the rule.
        var refused: [(uploaded: UploadedPoint, reason: String)] = []
        /// Points that the store did not take.
        var failed: [(uploaded: UploadedPoint, reason: String)] = []

        init(_ list: [JSONValue], columns: [ColumnRecord], _ call: APICall) {
            var order: [ExactName: Int] = [:]
            for item in list {
                let uploaded = UploadedPoint(item)
                do throws(APIFailure) {
                    guard case .object = item else { throw APIFailure(.parameter, "not an object") }
                    let entity = ExactName(try uploaded.entityName())
                    let point = try uploaded.point(now: call.now, options: call.options, columns: columns)
                    let index = order[entity, default: groups.count]
                    if index == groups.count {
                        order[entity] = index
                        groups.append(Group(entity: entity))
                    }
                    groups[index].points.append((uploaded, point))
                } catch {
                    refused.append((uploaded, error.detail))
                }
            }
        }

        /// The points of entities that would be made with names which no new entity may have.
        mutating func refuseUnfitNames(_ call: APICall, _ store: any EntityStore) async throws {
            var fitting: [Group] = []
            for group in groups {
                guard let problem = try await store.problem(withName: group.entity.text, in: call.service) else {
                    fitting.append(group)
                    continue
                }
                refused += group.points.map { ($0.uploaded, "entity_name: \(problem)") }
            }
            groups = fitting
        }

        var answer: Answer {
            let isStored = stored > 0 || refused.isEmpty && failed.isEmpty
            let status: APIStatus = isStored ? .success : failed.isEmpty ? .parameter : .internalError
            return Answer(status, isStored ? "" : "no point was stored") { answer in
                answer.member("success_num", stored)
                if refused.isEmpty && failed.isEmpty { return }
                answer.object("fail_info") { info in
                    info.array("param_error") { Self.write(refused, to: &$0) }
                    info.array("internal_error") { Self.write(failed, to: &$0) }
                }
            }
        }

        private static func write(_ points: [(uploaded: UploadedPoint, reason: String)], to list: inout JSONWriter) {
            for (uploaded, reason) in points { list.object { uploaded.writeEcho(error: reason, to: &$0) } }
        }
    }
}

extension APICall {
    /// The value of `point_list`.
    func pointList() throws(APIFailure) -> [JSONValue] {
        let text = try parameters.required("point_list")
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(of: Array(text.utf8), .requests)
        } catch {
            throw APIFailure(.parameter, "point_list is not JSON: \(error.detail) at byte \(error.offset)")
        }
        guard case .array(let list) = value else { throw APIFailure(.parameter, "point_list must be a JSON array") }
        guard !list.isEmpty else { throw APIFailure(.parameter, "point_list is empty") }
        return list
    }

    /// Throws while the server's clock is wrong: judged by it, points that are right would be refused.
    func checkClock() throws(IngestFailure) {
        if ingest.clock.problem(at: now) != nil { throw .clock }
    }

    func batch(of entity: String, _ points: [TrackPoint]) -> IngestBatch {
        IngestBatch(
            service: service, entity: entity, position: nil, points: points, sequences: [], payload: nil,
            received: now)
    }
}

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
