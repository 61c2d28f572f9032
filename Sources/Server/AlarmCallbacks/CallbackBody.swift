import JSON
package import TrackModel
package import TrackStore
import WebAPI

/// What is sent to an operator's URL, see docs/web-api.md.
package enum CallbackBody {
    /// Asks the operator's server whether it takes alarms.
    package static func check(of service: ServiceID) -> [UInt8] { body(type: 1, service, []) }

    /// Alarms in their order.
    package static func alarms(_ alarms: [AlarmRecord], of service: ServiceID) -> [UInt8] {
        body(type: 2, service, alarms)
    }

    private static func body(type: Int64, _ service: ServiceID, _ alarms: [AlarmRecord]) -> [UInt8] {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        writer.object { body in
            body.member("type", type)
            body.member("service_id", service.rawValue)
            body.array("content") { list in
                for alarm in alarms { list.object { AlarmWriter.callbacks.write(alarm, to: &$0) } }
            }
        }
        return writer.bytes
    }
}
