import Geodesy
import Geofencing
package import JSON
import TrackModel
package import TrackStore

extension FenceEndpoints {
    /// `fence/historyalarm`: of one entity, also after it or its fences were deleted.
    static let history = Endpoint(
        "fence/historyalarm", .get,
        [
            "monitored_person", "fence_ids", "start_time", "end_time", "coord_type_output", "include_stale",
            "alarm_source",
        ],
        about: \.monitoredPerson
    ) { (call, store: any AlarmStore) in
        let (start, end) = try call.alarmTimes()
        let fences = try call.fenceIDs()
        let filter = AlarmFilter(
            entity: try call.person(), fences: fences, source: try call.alarmSource(naming: fences),
            from: start ?? Timestamp(milliseconds: call.now.milliseconds - FenceRules.history),
            through: end, includesStale: try call.parameters.flag("include_stale"))
        let writer = AlarmWriter(coordinateType: try call.outputType())
        let found = try await newest(FenceLimits.mostAlarms, matching: filter, in: call.service, store)
        return Answer { answer in
            if found.total > found.alarms.count {
                answer.member("total", found.total)
                answer.member("left_out", found.total - found.alarms.count)
            }
            writer.write(found.alarms, to: &answer)
        }
    }

    /// The newest alarms, in the order of the store: who asks without pages wants to know what happened last.
    private static func newest(
        _ most: Int, matching filter: AlarmFilter, in service: ServiceID, _ store: any AlarmStore
    ) async throws -> (total: Int, alarms: [AlarmRecord]) {
        var found = try await store.alarms(in: service, matching: filter, page: Page(offset: 0, limit: most))
        for _ in 0..<3 where found.total > found.alarms.count {
            let before = found.total
            found = try await store.alarms(
                in: service, matching: filter, page: Page(offset: before - most, limit: most))
            // Others came in meanwhile.
            if found.total == before { break }
        }
        return found
    }

    /// `fence/batchhistoryalarm`: of the whole service, at most one hour.
    static let batchHistory = Endpoint(
        "fence/batchhistoryalarm", .get,
        ["start_time", "end_time", "coord_type_output", "page_index", "page_size", "include_stale", "alarm_source"]
    ) { (call, store: any AlarmStore) in
        let times = try call.alarmTimes()
        guard let start = times.start, let end = times.end else {
            throw APIFailure(.parameter, "start_time and end_time are required")
        }
        guard end.milliseconds - start.milliseconds < 3_601_000 else {
            throw APIFailure(.parameter, "end_time is at most one hour after start_time")
        }
        let page = call.parameters.page(defaultSize: 500, maximumSize: 1000)
        let writer = AlarmWriter(coordinateType: try call.outputType())
        let filter = AlarmFilter(
            source: try call.alarmSource(naming: nil), from: start, through: end,
            includesStale: try call.parameters.flag("include_stale"))
        let found = try await store.alarms(
            in: call.service, matching: filter,
            page: Page(offset: (page.index - 1) * page.size, limit: page.size))
        return Answer { answer in
            answer.member("total", found.total)
            writer.write(found.alarms, to: &answer)
        }
    }
}

/// Whose fences an alarm is of, as the API calls it.
enum AlarmSourceName {
    static let server = "server"
    static let vehicle = "vehicle"
    static let all = "all"

    static func name(of source: AlarmScope.Source) -> String {
        switch source {
        case .server: server
        case .local: vehicle
        }
    }
}

extension APICall {
    /// Whose alarms are meant; nil: all. Numbers of fences are those of the server's fences, unless the caller says else: a
    /// vehicle's own fences have numbers of their own.
    fileprivate func alarmSource(naming fences: [Int32]?) throws(APIFailure) -> AlarmScope.Source? {
        switch parameters["alarm_source"] {
        case nil: return fences == nil ? nil : .server
        case AlarmSourceName.server?: return .server
        case AlarmSourceName.vehicle?: return .local
        case AlarmSourceName.all?: return nil
        default: throw APIFailure(.parameter, "alarm_source must be server, vehicle or all")
        }
    }

    /// From the beginning of the second `start_time` to the end of `end_time`.
    fileprivate func alarmTimes() throws(APIFailure) -> (start: Timestamp?, end: Timestamp?) {
        let bounds = 0...Int64(253_402_300_799)
        let (start, end) = (try parameters.integer("start_time"), try parameters.integer("end_time"))
        guard [start, end].allSatisfy({ $0.map(bounds.contains) ?? true }) else {
            throw APIFailure(.parameter, "start_time and end_time are Unix times in seconds")
        }
        if let start, let end, end < start { throw APIFailure(.rangeReversed) }
        return (
            start.map(Timestamp.init(seconds:)), end.map { Timestamp(milliseconds: $0 * 1000 + 999) }
        )
    }
}

/// Writes alarms of the history in the datum that the client asked for, and alarms for the operator's URL.
package struct AlarmWriter: Sendable {
    let coordinateType: CoordinateType
    var naming = PlaceWriter.Naming.outsideChina

    /// As the operator's URL gets them: in BD-09, and each point says its datum.
    package static let callbacks = AlarmWriter(coordinateType: .bd09ll, naming: .always)

    /// `size` and `alarms`.
    func write(_ alarms: [AlarmRecord], to answer: inout JSONWriter) {
        answer.member("size", alarms.count)
        answer.array("alarms") { list in
            for record in alarms { list.object { write(record, to: &$0) } }
        }
    }

    /// The members of one alarm.
    package func write(_ record: AlarmRecord, to object: inout JSONWriter) {
        let alarm = record.alarm
        object.member("fence_id", Int64(alarm.fence))
        object.member("fence_name", alarm.name)
        object.member("monitored_person", record.entity)
        object.member("action", alarm.action.rawValue)
        object.object("alarm_point") { write(alarm.point, to: &$0) }
        if let previous = alarm.previous { object.object("pre_point") { write(previous, to: &$0) } }
        // What follows is not of the published API. Times are milliseconds, as in all that is not.
        object.member("alarm_source", AlarmSourceName.name(of: alarm.source))
        object.member("revision", Int64(alarm.revision))
        object.member("key", alarm.key.text)
        object.object("crossing") { crossing in
            crossing.member("time", alarm.crossing.time.milliseconds)
            PlaceWriter(coordinateType: coordinateType).write(
                Degrees(alarm.crossing.place), naming: naming, to: &crossing)
            crossing.name("estimated")
            crossing.bool(alarm.crossing.isEstimated)
            guard alarm.crossing.earliest != alarm.crossing.latest else { return }
            crossing.member("earliest", alarm.crossing.earliest.milliseconds)
            crossing.member("latest", alarm.crossing.latest.milliseconds)
        }
        if alarm.isStale {
            object.name("stale")
            object.bool(true)
        }
        if let group = alarm.group { object.member("group", group) }
        if let inside = alarm.inside { object.member("inside", inside) }
        if alarm.skipped > 0 { object.member("skipped", alarm.skipped) }
        if let speedLimit = alarm.speedLimit {
            object.name("speed_limit")
            object.decimal(Int64(speedLimit), digits: 2)
        }
        if let parameters = alarm.parameters, let value = try? JSONReader.value(of: Array(parameters.utf8)) {
            object.name("params")
            object.value(value)
        }
    }

    private func write(_ point: AlarmPoint, to object: inout JSONWriter) {
        PlaceWriter(coordinateType: coordinateType).write(Degrees(point.place), naming: naming, to: &object)
        // Clients read it into an integer.
        object.member("radius", Int64((Double(point.accuracy ?? 0) / 10).rounded()))
        object.member("loc_time", point.time.seconds)
        object.member("create_time", point.received.seconds)
    }
}

extension Degrees {
    fileprivate init(_ place: Coordinate) { self.init(latitude: place.latitude, longitude: place.longitude) }
}
