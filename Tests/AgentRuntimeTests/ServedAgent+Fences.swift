import AlarmLog
import FenceDelivery
import Foundation
import Geodesy
import Geofencing
import Testing
import TrackModel
import TrackTestKit
import TrackWire

extension ServedAgent {
    /// A circle of 100 m around 52 N 4 E.
    static func fence(_ id: Int32 = 3) throws -> DeliveredFence {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 52, longitude: 4), radius: 100)))
        definition.name = "depot"
        definition.watch = .everyone
        return DeliveredFence(
            try Fence(id: id, definition, at: Timestamp(milliseconds: 0)), since: Timestamp(milliseconds: 0), of: "van")
    }

    /// The server sends all fences. `fences` nil: the circle. `reach`: metres around 52 N 4 E where they are complete; nil:
    /// everywhere.
    func deliver(_ version: UInt64, fences: [DeliveredFence]? = nil, reach: UInt32? = nil) throws {
        let center = try #require(Coordinate(latitude: 52, longitude: 4))
        let delivery = FenceDelivery(
            version: version, fences: try fences ?? [Self.fence()],
            reach: reach.map { .init(center: center, metres: $0) })
        for update in try delivery.updates() { try send(.fenceUpdate(update)) }
    }

    /// Of the journal.
    func alarms() throws -> [Alarm] { try journal.alarms(AlarmQuery(), now: 0).alarms }

    /// The reports of alarms that the agent has sent since the last question for frames.
    func reports() throws -> [AlarmUpload] { try frames().compactMap(\.alarmUpload) }

    /// The server answers a report. `refused`: keys that the server will never take.
    func answer(_ report: AlarmUpload, refused keys: [Data] = []) throws {
        var answer = AlarmUploadAck()
        answer.id = report.id
        answer.refused = keys.map { key in
            var refused = RefusedAlarm()
            (refused.key, refused.reason) = (key, "no such fence")
            return refused
        }
        try send(.alarmUploadAck(answer))
    }
}

extension ClientFrame.OneOf_Message {
    var upload: Upload? { if case .upload(let upload) = self { upload } else { nil } }
    var alarmUpload: AlarmUpload? { if case .alarmUpload(let upload) = self { upload } else { nil } }
    var fenceRequest: FenceRequest? { if case .fenceRequest(let request) = self { request } else { nil } }
}
