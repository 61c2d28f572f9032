internal import AlarmLog
internal import Geofencing
internal import JSON
internal import LocalFences
internal import TrackWire

// Alarms of the journal in the messages that tell the server of them.
extension AlarmReporting.Item {
    /// Nil when the alarm has no key, or is too long without its parameters.
    init?(_ alarm: Alarm, most: Int) {
        let body = alarm.content.body
        guard case .object(var members)? = try? JSONReader.value(of: Array(body.utf8)),
            case .string(let text)? = members["key"], let key = AlarmKey(text: text)
        else { return nil }
        var json = body
        // A field of their own, because they may be longer than an alarm.
        let remoteTo = members.removeValue(forKey: "remote_to")?.arrayValue?.compactMap(\.stringValue) ?? []
        if !remoteTo.isEmpty { json = JSONValue.object(members).description }
        if json.utf8.count > most {
            members["params"] = nil
            json = JSONValue.object(members).description
        }
        guard json.utf8.count <= most else { return nil }
        self.init(number: alarm.number, key: key.bytes, type: alarm.content.type, json: json, remoteTo: remoteTo)
    }
}

extension AlarmUpload {
    init(_ message: UInt64, _ items: [AlarmReporting.Item]) {
        self.init()
        id = message
        alarms = items.map {
            UploadedAlarm(key: $0.key, type: $0.type, json: $0.json, remoteTo: $0.remoteTo)
        }
    }
}
