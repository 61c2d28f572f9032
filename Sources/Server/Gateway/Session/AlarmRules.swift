import FenceJSON
import Geofencing
import Ingest
import JSON
import TrackModel
import TrackStore
import TrackWire

/// An alarm that the server will never store.
struct AlarmRefusal: Hashable, Sendable {
    /// As the agent gave it.
    var key: [UInt8]
    var reason: String
}

extension Submission {
    /// The same with what the writer left out, because the entity has made too many alarms.
    func leavingOut(_ untold: [AlarmKey]) -> Submission {
        guard !untold.isEmpty, case .alarms(let id, let refusals) = self else { return self }
        let reason = "the entity has made too many alarms: the server counts the further ones and does not keep them"
        return .alarms(id: id, refusals: refusals + untold.map { AlarmRefusal(key: $0.bytes, reason: reason) })
    }
}

/// The rules of AlarmUpload messages.
extension UploadRules {
    /// A batch without points: the alarms that the server cannot find itself.
    func check(
        _ upload: AlarmUpload, at now: Timestamp
    ) throws(ProtocolViolation) -> (batch: IngestBatch, refusals: [AlarmRefusal]) {
        guard upload.id > 0, (1...WireLimits.uploadedAlarms).contains(upload.alarms.count) else {
            throw ProtocolViolation(
                "alarm_upload: an id above 0 and 1 to \(WireLimits.uploadedAlarms) alarms, not \(upload.alarms.count)")
        }
        var batch = IngestBatch(
            service: service, entity: entity, position: nil, points: [], sequences: [], payload: nil, received: now)
        var refusals: [AlarmRefusal] = []
        for uploaded in upload.alarms {
            do throws(FenceJSONError) {
                batch.alarms.append(try alarm(uploaded, at: now))
            } catch {
                refusals.append(AlarmRefusal(key: uploaded.keyBytes, reason: error.description))
            }
        }
        return (batch, refusals)
    }

    private func alarm(_ uploaded: UploadedAlarm, at now: Timestamp) throws(FenceJSONError) -> CausedAlarm {
        guard let source = AlarmScope.Source(rawValue: UInt8(clamping: uploaded.type)) else {
            throw FenceJSONError("an alarm of type \(uploaded.type): it is 3 or 4")
        }
        guard uploaded.json.utf8.count <= PushRules.maximumBodyBytes else {
            throw FenceJSONError("an alarm of \(uploaded.json.utf8.count) bytes: at most \(PushRules.maximumBodyBytes)")
        }
        guard let json = try? JSONReader.value(of: Array(uploaded.json.utf8)) else {
            throw FenceJSONError("the alarm is not JSON")
        }
        var body = try AlarmBody(json: json)
        // An alarm is not lost because of a name. A fence that the vehicle has had for long may have one that is refused today.
        (body.name, body.group) = (body.name.visible, body.group?.visible)
        guard body.key.bytes == uploaded.keyBytes else {
            throw FenceJSONError("the alarm has another key than the message says")
        }
        guard ExactName(body.entity) == ExactName(entity) else {
            throw FenceJSONError("the alarm is of another entity than the session: log in as that entity")
        }
        let alarm = Alarm(
            key: body.key, source: source, fence: body.fence, revision: body.revision, name: body.name,
            group: body.group, action: body.action, point: AlarmPoint(body.point, received: now),
            previous: body.previous.map { AlarmPoint($0, received: now) }, crossing: body.crossing,
            inside: body.inside, skipped: body.skipped, speedLimit: body.speedLimit, parameters: body.parameters,
            isReported: true)
        try checkReceivers(of: uploaded, source)
        // The vehicle itself has told it.
        let others = uploaded.remoteTo.filter { ExactName($0) != ExactName(entity) }
        guard !others.isEmpty else { return CausedAlarm(alarm) }
        body.point.received = now
        body.previous?.received = now
        let push = NewPush(
            type: PushRules.vehicleAlarm, body: body.text(most: PushRules.maximumBodyBytes),
            targets: .entities(others), alarm: body.key, about: entity)
        return CausedAlarm(alarm, pushes: [push])
    }

    /// Each receiver is a row of the transaction. Who hears of a server fence the server knows itself.
    private func checkReceivers(
        of uploaded: UploadedAlarm, _ source: AlarmScope.Source
    ) throws(FenceJSONError) {
        let names = uploaded.remoteTo
        guard names.isEmpty || source == .local else {
            throw FenceJSONError("an alarm of a server fence names nobody who is to hear of it: leave remote_to out")
        }
        guard names.count <= FenceReaction.mostRemote else {
            throw FenceJSONError(
                "\(names.count) entities are to hear of the alarm: at most \(FenceReaction.mostRemote)")
        }
        for name in names {
            if let problem = EntityName.problem(with: name) {
                throw FenceJSONError(
                    "'\(name.prefix(EntityName.maximumBytes))' cannot be told of the alarm: \(problem)")
            }
        }
    }
}

extension AlarmPoint {
    fileprivate init(_ point: AlarmBody.Point, received: Timestamp) {
        self.init(time: point.time, place: point.place, accuracy: point.accuracy, received: received)
    }
}
