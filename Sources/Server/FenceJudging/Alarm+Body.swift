import Geofencing
import JSON
import TrackModel
package import TrackStore

extension Alarm {
    /// The alarm as JSON, as pushes carry it: the Web API's members in its units, and more. Its own times are milliseconds.
    /// At most ``PushRules/maximumBodyBytes``: parameters that do not fit are left out.
    package func body(of entity: String, isRemote: Bool) -> String {
        let body = body(of: entity, isRemote: isRemote, parameters: parameters)
        guard body.utf8.count > PushRules.maximumBodyBytes else { return body }
        return self.body(of: entity, isRemote: isRemote, parameters: nil)
    }

    private func body(of entity: String, isRemote: Bool, parameters: String?) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("action")
            writer.string(action.rawValue)
            writer.name("fence_id")
            writer.integer(Int64(fence))
            writer.name("fence_name")
            writer.string(name)
            writer.name("revision")
            writer.integer(Int64(revision))
            if let group {
                writer.name("group")
                writer.string(group)
            }
            writer.name("monitored_person")
            writer.string(entity)
            writer.name("key")
            writer.string(key.text)
            writer.name("alarm_point")
            Self.write(point, to: &writer)
            if let previous {
                writer.name("pre_point")
                Self.write(previous, to: &writer)
            }
            writer.name("crossing")
            writeCrossing(to: &writer)
            if let inside {
                writer.name("inside")
                writer.integer(inside)
            }
            if skipped > 0 {
                writer.name("skipped")
                writer.integer(Int64(skipped))
            }
            if let speedLimit {
                writer.name("speed_limit")
                writer.decimal(Int64(speedLimit), digits: 2)
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
    private static func write(_ point: AlarmPoint, to writer: inout JSONWriter) {
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
            writer.name("create_time")
            writer.integer(point.received.seconds)
        }
    }
}
