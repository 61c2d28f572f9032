import TrackModel
import TrackStore

extension APICall {
    /// Longest range of one query, seconds.
    static let maximumRange: Int64 = 86_400

    /// `track/getlatestpoint`
    func latestPoint() async throws(APIFailure) -> [JSON.Member] {
        let name = try entityName()
        let writer = try await pointJSON()
        let option = ProcessOption(parsing: parameters["process_option"])
        let record: EntityRecord?
        do throws(TrackStoreError) {
            record = try await store.entity(named: name, in: caller.service)
        } catch {
            throw failure(error)
        }
        guard let record else { throw APIFailure(.noEntity) }
        guard let latest = record.latest else {
            // What the published service says of an entity without points.
            let zero = ["longitude", "latitude", "loc_time"].map { JSON.Member($0, .integer(0)) }
            return [JSON.Member("latest_point", .object(zero))]
        }
        let shown = try await newest(of: name, latest: latest, within: option.radiusLimit)
        return [JSON.Member("latest_point", .object(writer.members(shown.point)))]
    }

    /// The newest point of the last day that is accurate enough; the newest of all when none is.
    private func newest(
        of name: String, latest: StoredPoint, within limit: Int?
    ) async throws(APIFailure) -> StoredPoint {
        guard let limit, !latest.point.isWithin(radius: limit) else { return latest }
        let time = latest.point.fix.time
        do throws(TrackStoreError) {
            let day = try await store.points(
                of: name, in: caller.service, from: time.adding(milliseconds: -Self.maximumRange * 1000), through: time,
                limit: options.maximumRawPoints)
            return day.last { $0.point.isWithin(radius: limit) } ?? latest
        } catch {
            throw failure(error)
        }
    }

    /// `track/getdistance`
    func distance() async throws(APIFailure) -> [JSON.Member] {
        let query = try TrackQuery(self)
        return distanceMembers(try await read(query).distance, query)
    }

    /// `track/gettrack`
    func track() async throws(APIFailure) -> [JSON.Member] {
        let query = try TrackQuery(self)
        let writer = try await pointJSON()
        let isDescending = try descending()
        let page = parameters.page(defaultSize: 100, maximumSize: 5000)
        let reading = try await reading(of: query, page: page.index)
        let points = reading.points
        let first = min((page.index - 1) * page.size, points.count)
        let last = min(first + page.size, points.count)
        if page.index == 1, last < points.count { readings.keep(reading, query, now: now) }
        // Position in the answer's order, then in the store's.
        let shown = (first..<last).lazy.map { points[isDescending ? points.count - 1 - $0 : $0] }
        var members = [
            JSON.Member("total", .integer(points.count)),
            JSON.Member("size", .integer(shown.count)),
        ]
        members += distanceMembers(reading.distance, query)
        // There are no road data to know toll roads from.
        members.append(JSON.Member("toll_distance", .integer(0)))
        if let first = points.first, let last = points.last {
            members.append(JSON.Member("start_point", .object(writer.position(first.point))))
            members.append(JSON.Member("end_point", .object(writer.position(last.point))))
        }
        members.append(JSON.Member("points", writer.track(shown)))
        return members
    }

    private func descending() throws(APIFailure) -> Bool {
        switch parameters["sort_type"].map({ Parameters.trimmed($0).lowercased() }) {
        case nil, "asc", "0": return false
        case "desc", "1": return true
        default: throw APIFailure(.parameter, "sort_type must be asc or desc")
        }
    }

    private func distanceMembers(_ distance: TrackDistance, _ query: TrackQuery) -> [JSON.Member] {
        var members = [JSON.Member("distance", .rounded(distance.total, digits: 4))]
        if query.slowBelow != nil {
            members.append(JSON.Member("low_speed_distance", .rounded(distance.slow, digits: 4)))
        }
        return members
    }

    /// The reading that the first page came from, for the pages after it; else a new one.
    private func reading(of query: TrackQuery, page: Int) async throws(APIFailure) -> TrackReading {
        if page > 1, let kept = readings.reading(query, now: now) { return kept }
        return try await read(query)
    }

    private func read(_ query: TrackQuery) async throws(APIFailure) -> TrackReading {
        let limit = query.option == nil ? options.maximumRawPoints : options.maximumProcessedPoints
        var points: [StoredPoint]
        do throws(TrackStoreError) {
            points = try await store.points(
                of: query.entity, in: query.service, from: query.from, through: query.through, limit: limit)
        } catch {
            throw failure(error)
        }
        if let radius = query.option?.radiusLimit { points.removeAll { !$0.point.isWithin(radius: radius) } }
        return TrackReading(points: points, distance: TrackDistance(points.lazy.map(\.point), query))
    }
}

/// What `gettrack` and `getdistance` have in common.
struct TrackQuery: Hashable, Sendable {
    let service: ServiceID
    let entity: String
    let from: Timestamp
    /// The last millisecond of `end_time`: the API's times are whole seconds.
    let through: Timestamp
    /// Nil for the track as it was uploaded.
    let option: ProcessOption?
    let supplement: SupplementMode
    /// km/h
    let slowBelow: Double?
}

extension TrackQuery {
    init(_ call: APICall) throws(APIFailure) {
        let parameters = call.parameters
        service = call.caller.service
        entity = try call.entityName()
        let start = try parameters.requiredInteger("start_time")
        let end = try parameters.requiredInteger("end_time")
        guard end >= start else { throw APIFailure(.rangeReversed) }
        let (span, overflow) = end.subtractingReportingOverflow(start)
        guard !overflow, span <= APICall.maximumRange else { throw APIFailure(.rangeTooLong) }
        from = Timestamp(seconds: start)
        // Clients ask up to "now" by their own clock, so an end ahead of ours is no error; what a receiver dated ahead
        // is found where it was dated.
        through = Timestamp(seconds: end).adding(milliseconds: 999)
        option = try parameters.flag("is_processed") ? ProcessOption(parsing: parameters["process_option"]) : nil
        supplement = try SupplementMode(parsing: parameters["supplement_mode"])
        slowBelow = try parameters.double("low_speed_threshold")
    }
}

extension TrackDistance {
    fileprivate init(_ points: some Sequence<TrackPoint>, _ query: TrackQuery) {
        self.init(points, supplement: query.supplement, slowBelow: query.slowBelow)
    }
}

extension TrackPoint {
    /// True also when the accuracy is not known: no rule about it can be applied.
    fileprivate func isWithin(radius metres: Int) -> Bool {
        fix.accuracy.map { Int($0) <= metres * 10 } ?? true
    }
}
