package import Geofencing
internal import JSON
internal import TrackModel

/// An alarm of a fence of the box's own, with everything that is told of it.
package struct LocalAlarm: Hashable, Sendable {
    package let alarm: FenceAlarm
    package let entity: String
    package let key: AlarmKey
    /// The fence's name, and its group when the alarm is the group's.
    package let name: String
    package let group: String?
    /// A JSON object for hooks and programs; nil when the fence has none for this action.
    package let parameters: String?
    /// Other watchers are told too.
    package let isRemote: Bool
    /// The agent reports it to the server.
    package let isReported: Bool

    init(_ alarm: FenceAlarm, of definition: FenceDefinition, service: Int64, entity: String) {
        self.alarm = alarm
        self.entity = entity
        key = AlarmKey(alarm, in: AlarmScope(service: service, entity: entity, source: .local))
        name = definition.name
        group = alarm.group == nil ? nil : definition.group
        let reaction = definition.reaction(to: alarm.action)
        parameters = reaction?.parameters
        isRemote = reaction?.isRemote ?? false
        isReported = definition.isReported
    }

    /// The number by which the journal knows the alarm, made of its key.
    package var id: UInt64 { UInt64(key.pushID(to: entity)) }
    /// When it happened, by GNSS time, milliseconds since 1970.
    package var time: Int64 { alarm.crossing.time.milliseconds }

    /// Bytes of the longest body.
    package static let mostBodyBytes = 16_384

    /// The alarm as JSON: the Web API's members, and more. Its own times are milliseconds.
    package var body: String {
        let body = body(with: parameters)
        return body.utf8.count <= Self.mostBodyBytes ? body : self.body(with: nil)
    }

    private func body(with parameters: String?) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("action")
            writer.string(alarm.action.rawValue)
            writer.name("fence_id")
            writer.integer(Int64(alarm.fence))
            writer.name("fence_name")
            writer.string(name)
            writer.name("revision")
            writer.integer(Int64(alarm.revision))
            if let group {
                writer.name("group")
                writer.string(group)
            }
            writer.name("monitored_person")
            writer.string(entity)
            writer.name("key")
            writer.string(key.text)
            writer.name("alarm_point")
            Self.write(alarm.point, to: &writer)
            if let previous = alarm.previous {
                writer.name("pre_point")
                Self.write(previous, to: &writer)
            }
            writer.name("crossing")
            writeCrossing(to: &writer)
            if let inside = alarm.inside {
                writer.name("inside")
                writer.integer(inside)
            }
            if alarm.skipped > 0 {
                writer.name("skipped")
                writer.integer(Int64(alarm.skipped))
            }
            if let limit = alarm.speedLimit {
                writer.name("speed_limit")
                writer.decimal(Int64(limit), digits: 2)
            }
            if isRemote {
                writer.name("remote")
                writer.bool(true)
            }
            if let parameters {
                writer.name("params")
                writer.value((try? JSONReader.value(of: Array(parameters.utf8))) ?? .string(parameters))
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func writeCrossing(to writer: inout JSONWriter) {
        let crossing = alarm.crossing
        writer.object { writer in
            writer.name("time")
            writer.integer(crossing.time.milliseconds)
            writer.name("latitude")
            writer.decimal(Int64(crossing.place.latitudeE7), digits: 7)
            writer.name("longitude")
            writer.decimal(Int64(crossing.place.longitudeE7), digits: 7)
            writer.name("estimated")
            writer.bool(crossing.isEstimated)
            guard crossing.earliest != crossing.latest else { return }
            writer.name("earliest")
            writer.integer(crossing.earliest.milliseconds)
            writer.name("latest")
            writer.integer(crossing.latest.milliseconds)
        }
    }

    /// A point in the Web API's units: whole metres and seconds.
    private static func write(_ point: FencePoint, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("latitude")
            writer.decimal(Int64(point.place.latitudeE7), digits: 7)
            writer.name("longitude")
            writer.decimal(Int64(point.place.longitudeE7), digits: 7)
            if let accuracy = point.accuracy {
                writer.name("radius")
                writer.integer((Int64(accuracy) + 5) / 10)
            }
            writer.name("loc_time")
            writer.integer(point.time.seconds)
        }
    }
}
