import Geofencing
package import JSON
import TrackModel

extension AlarmBody {
    /// Reads what ``text(most:)`` writes. Its times of points are whole seconds, and its accuracies whole metres.
    ///
    /// - Throws: ``FenceJSONError`` that names the member that is missing or wrong.
    package init(json: JSONValue) throws(FenceJSONError) {
        guard let members = json.objectValue else { throw FenceJSONError("an alarm is an object, not \(json.kind)") }
        guard let key = members["key"]?.stringValue.flatMap(AlarmKey.init(text:)) else {
            throw FenceJSONError("the alarm's key is 32 hexadecimal digits")
        }
        guard let action = members["action"]?.stringValue.flatMap(FenceAction.init) else {
            throw FenceJSONError("the alarm's action is one of enter, exit, stay, overspeed")
        }
        guard let fence = Self.number(members["fence_id"]), fence > 0,
            let revision = Self.number(members["revision"]), revision > 0
        else { throw FenceJSONError("the alarm's fence_id and revision are positive integers") }
        let point = try Point(json: members["alarm_point"], "alarm_point")
        self.init(
            key, of: try Self.text(members, "monitored_person") ?? "", action: action, fence: fence,
            revision: revision, name: try Self.text(members, "fence_name") ?? "", point: point,
            crossing: try Crossing(json: members["crossing"]))
        group = try Self.text(members, "group")
        previous = try members["pre_point"].map { (json) throws(FenceJSONError) in try Point(json: json, "pre_point") }
        inside = members["inside"]?.integerValue
        skipped = Int(clamping: max(0, members["skipped"]?.integerValue ?? 0))
        speedLimit = members["speed_limit"]?.doubleValue.flatMap { Int32(exactly: ($0 * 100).rounded()) }
        isRemote = members["remote"]?.boolValue ?? false
        parameters = members["params"].map(\.description)
        if let parameters, parameters.utf8.count > FenceReaction.mostBytes {
            throw FenceJSONError("the alarm's params have \(parameters.utf8.count) bytes")
        }
    }

    private static func number(_ value: JSONValue?) -> Int32? { value?.integerValue.flatMap(Int32.init(exactly:)) }

    private static func text(
        _ members: [String: JSONValue], _ name: String
    ) throws(FenceJSONError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.stringValue, text.utf8.count <= FenceDefinition.mostNameBytes else {
            throw FenceJSONError("the alarm's \(name) is a text of at most \(FenceDefinition.mostNameBytes) bytes")
        }
        return text
    }
}

extension AlarmBody.Point {
    fileprivate init(json: JSONValue?, _ name: String) throws(FenceJSONError) {
        guard let members = json?.objectValue, let place = Coordinate(json: members),
            let seconds = members["loc_time"]?.integerValue, (0...253_402_300_799).contains(seconds)
        else { throw FenceJSONError("the alarm's \(name) has latitude, longitude and loc_time") }
        // Larger than any accuracy that can be told in 0.1 m is the largest one.
        let metres = members["radius"]?.integerValue.map { Int32(max(0, min($0, Int64(Int32.max / 10)))) }
        self.init(
            time: Timestamp(seconds: seconds), place: place,
            accuracy: metres.map { $0 * 10 })
    }
}

extension Crossing {
    fileprivate init(json: JSONValue?) throws(FenceJSONError) {
        guard let members = json?.objectValue, let place = Coordinate(json: members),
            let time = members["time"]?.integerValue, let isEstimated = members["estimated"]?.boolValue
        else { throw FenceJSONError("the alarm's crossing has time, latitude, longitude and estimated") }
        self.init(
            time: Timestamp(milliseconds: time), place: place, isEstimated: isEstimated,
            earliest: Timestamp(milliseconds: members["earliest"]?.integerValue ?? time),
            latest: Timestamp(milliseconds: members["latest"]?.integerValue ?? time))
    }
}

extension Coordinate {
    fileprivate init?(json members: [String: JSONValue]) {
        guard let latitude = members["latitude"]?.doubleValue, let longitude = members["longitude"]?.doubleValue else {
            return nil
        }
        self.init(latitude: latitude, longitude: longitude)
    }
}
