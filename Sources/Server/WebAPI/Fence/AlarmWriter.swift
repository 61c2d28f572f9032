import Geodesy
import Geofencing
package import JSON
import TrackModel
package import TrackStore

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
