package import Geofencing
internal import JSON
package import TrackModel

/// An alarm as JSON, as hooks, `Monitor` and pushes carry it: the members of the Web API in its units, and more. The times that
/// the Web API does not have are milliseconds. Vehicle and server write the same text for the same alarm.
package struct AlarmBody: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        package var time: Timestamp
        package var place: Coordinate
        /// Estimated error, 0.1 m; nil when unknown.
        package var accuracy: Int32?
        /// When the server received it; nil on the vehicle.
        package var received: Timestamp?

        package init(time: Timestamp, place: Coordinate, accuracy: Int32?, received: Timestamp? = nil) {
            self.time = time
            self.place = place
            self.accuracy = accuracy
            self.received = received
        }
    }

    package let key: AlarmKey
    package let entity: String
    package let action: FenceAction
    package let fence: Int32
    package let revision: Int32
    package var name: String
    package var point: Point
    package let crossing: Crossing
    package var group: String?
    package var previous: Point?
    /// Milliseconds inside.
    package var inside: Int64?
    /// Stays that were due and are not told.
    package var skipped = 0
    /// cm/s.
    package var speedLimit: Int32?
    package var isRemote = false
    /// Entities that the server is to tell of a vehicle's own alarm.
    package var remoteTo: [String] = []
    /// A JSON object.
    package var parameters: String?

    package init(
        _ key: AlarmKey, of entity: String, action: FenceAction, fence: Int32, revision: Int32, name: String,
        point: Point, crossing: Crossing
    ) {
        self.key = key
        self.entity = entity
        self.action = action
        self.fence = fence
        self.revision = revision
        self.name = name
        self.point = point
        self.crossing = crossing
    }

    /// The text. When it has more bytes than `most`, the parameters are left out, and then those who are to be told too.
    package func text(most: Int) -> String {
        let whole = text(with: parameters, remoteTo)
        guard whole.utf8.count > most else { return whole }
        let short = text(with: nil, remoteTo)
        return short.utf8.count <= most ? short : text(with: nil, [])
    }

    private func text(with parameters: String?, _ remoteTo: [String]) -> String {
        var writer = JSONWriter()
        writer.object { body in
            body.member("action", action.rawValue)
            body.member("fence_id", Int64(fence))
            body.member("fence_name", name)
            body.member("revision", Int64(revision))
            if let group { body.member("group", group) }
            body.member("monitored_person", entity)
            body.member("key", key.text)
            body.object("alarm_point") { Self.write(point, to: &$0) }
            if let previous { body.object("pre_point") { Self.write(previous, to: &$0) } }
            body.object("crossing") { writeCrossing(to: &$0) }
            if let inside { body.member("inside", inside) }
            if skipped > 0 { body.member("skipped", skipped) }
            if let speedLimit {
                body.name("speed_limit")
                body.decimal(Int64(speedLimit), digits: 2)
            }
            if isRemote {
                body.name("remote")
                body.bool(true)
            }
            if !remoteTo.isEmpty {
                body.array("remote_to") { list in
                    for name in remoteTo { list.string(name) }
                }
            }
            if let parameters {
                body.name("params")
                body.value((try? JSONReader.value(of: Array(parameters.utf8))) ?? .string(parameters))
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func writeCrossing(to object: inout JSONWriter) {
        object.member("time", crossing.time.milliseconds)
        Self.write(crossing.place, to: &object)
        object.name("estimated")
        object.bool(crossing.isEstimated)
        guard crossing.earliest != crossing.latest else { return }
        object.member("earliest", crossing.earliest.milliseconds)
        object.member("latest", crossing.latest.milliseconds)
    }

    /// Whole metres and seconds.
    private static func write(_ point: Point, to object: inout JSONWriter) {
        write(point.place, to: &object)
        if let accuracy = point.accuracy { object.member("radius", (Int64(accuracy) + 5) / 10) }
        object.member("loc_time", point.time.seconds)
        if let received = point.received { object.member("create_time", received.seconds) }
    }

    private static func write(_ place: Coordinate, to object: inout JSONWriter) {
        object.name("latitude")
        object.decimal(Int64(place.latitudeE7), digits: 7)
        object.name("longitude")
        object.decimal(Int64(place.longitudeE7), digits: 7)
    }
}
