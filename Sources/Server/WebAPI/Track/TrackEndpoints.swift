import JSON
import TrackStore

/// The module `track`: points on their way in, and tracks on their way out.
enum TrackEndpoints {
    static let all =
        [addPoint, addPoints, latestPoint, distance, track] + ColumnEndpoints.all(of: .track)
}

extension TrackEndpoints {
    /// `track/gettrack`
    static let track = Endpoint(
        "track/gettrack", .get,
        TrackQuery.parameters + [
            "supplement_content", "coord_type_output", "sort_type", "page_index", "page_size", "explain",
            "gap_content",
        ], about: \.namedEntity
    ) { (call, store: any PointStore & ColumnStore & EntityStore) in
        let query = try TrackQuery(call)
        let writer = try await call.pointWriter(store)
        let isDescending = try descending(call.parameters)
        let page = call.parameters.page(defaultSize: 100, maximumSize: 5000)
        let reading = try await reading(of: query, page: page.index, call, store)
        let points = reading.points
        let gaps =
            try page.index == 1 && call.parameters.flag("gap_content")
            ? await GapReading(query.range, call, store) : nil
        let first = min((page.index - 1) * page.size, points.count)
        let last = min(first + page.size, points.count)
        if page.index == 1, last < points.count {
            call.pages.keep(reading, items: points.count, of: query, now: call.now)
        }
        // Position in the answer's order, then in the store's.
        let shown = (first..<last).lazy.map { points[isDescending ? points.count - 1 - $0 : $0] }
        return Answer { answer in
            answer.member("total", points.count)
            answer.member("size", shown.count)
            reading.writeDistance(query, call.options, to: &answer)
            reading.holes.write(to: &answer)
            answer.name("toll_distance")
            answer.rounded(reading.roads.toll, digits: 4)
            if let first = points.first, let last = points.last {
                answer.object("start_point") { writer.writePosition(of: first.stored.point, to: &$0) }
                answer.object("end_point") { writer.writePosition(of: last.stored.point, to: &$0) }
            }
            answer.array("points") { writer.write(shown, to: &$0) }
            gaps?.write(to: &answer)
            if page.index == 1 { reading.writeExplanation(query, call.options, writer, to: &answer) }
        }
    }

    private static func descending(_ parameters: Parameters) throws(APIFailure) -> Bool {
        switch parameters["sort_type"].map({ Parameters.trimmed($0).lowercased() }) {
        case nil, "asc", "0": return false
        case "desc", "1": return true
        default: throw APIFailure(.parameter, "sort_type must be asc or desc")
        }
    }

    /// The reading that the first page came from, for the pages after it; else a new one.
    private static func reading(
        of query: TrackQuery, page: Int, _ call: APICall, _ store: any PointStore
    ) async throws -> TrackReading {
        if page > 1, let kept = call.pages.content(of: query, as: TrackReading.self, now: call.now) { return kept }
        return try await TrackReading.reading(query, call, store)
    }

    /// `track/getdistance`
    static let distance = Endpoint(
        "track/getdistance", .get, TrackQuery.parameters + ["coord_type_output", "explain"], about: \.namedEntity
    ) { (call, store: any PointStore) in
        let query = try TrackQuery(call)
        let writer = try call.positionWriter()
        let reading = try await TrackReading.reading(query, call, store)
        return Answer { answer in
            reading.writeDistance(query, call.options, to: &answer)
            reading.holes.write(to: &answer)
            reading.writeExplanation(query, call.options, writer, to: &answer)
        }
    }
}
