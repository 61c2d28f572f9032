import FenceJSON
import Geofencing
import Ingest
import JSON
import TrackModel
import TrackStore
import TrackWire

/// A frame that breaks a rule of the protocol: the connection is closed with this reason and nothing of it is stored.
struct ProtocolViolation: Error, Hashable {
    /// For people; holds no secret and no position.
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// A point that was not stored for good; the number is a sequence, or an index for custom points.
struct PointRefusal: Hashable, Sendable {
    var number: UInt64
    var reason: String
    /// It is dated too far ahead of the server's clock.
    var isAhead = false
}

/// Points from one frame, checked and ready for the store.
struct CheckedBatch: Hashable, Sendable {
    var batch: IngestBatch
    var refusals: [PointRefusal]
    /// Attributes that were left out: no track column, or of another type.
    var ignoredKeys: Set<String> = []

    /// Refused points that are dated too far ahead.
    var aheadCount: Int { refusals.count { $0.isAhead } }
}

/// The rules of Upload and Points messages.
struct UploadRules: Hashable, Sendable {
    let service: ServiceID
    /// The entity of the Hello.
    let entity: String
    let stream: StreamID
    let limits: GatewayLimits
    /// The columns of the service, as the Welcome listed them.
    let schema: AttributeSchema
    /// The entities whose ring points the session may upload; nil: any. ``GatewayLimits/devicePolicy`` says which sessions may
    /// upload custom points of other entities.
    var entities: Set<ExactName>?

    /// Under which entity a batch stands. A batch of an entity that the device never was stands under the session's own, and
    /// all its points are refused: so the agent frees them and goes on, and nobody's track gets them.
    func entity(of upload: Upload) throws(ProtocolViolation) -> EntityKey {
        let name = try entityName(upload.entity, "upload")
        return EntityKey(service: service, name: problem(withEntity: name) == nil ? name : entity)
    }

    private func problem(withEntity name: String) -> String? {
        guard let entities, !entities.contains(ExactName(name)) else { return nil }
        return "this device is \(entity) and never was \(name): points of \(name) are refused"
    }

    /// The batch's position has no claim yet.
    func check(_ upload: Upload, at now: Timestamp) throws(ProtocolViolation) -> CheckedBatch {
        guard upload.stream.isEmpty || upload.streamID == stream else {
            throw ProtocolViolation("upload: the stream must be that of the hello, or empty")
        }
        let (end, overflow) = upload.firstSequence.addingReportingOverflow(UInt64(upload.count))
        guard upload.firstSequence > 0, !overflow, end < .max else {
            throw ProtocolViolation("upload: the sequences must be within 1 ..< 2^64 - 1")
        }
        let name = try entityName(upload.entity, "upload")
        let isCompressed = try isCompressed(upload.encoding, "upload")
        let bytes = try payload(upload.payloadBytes, "upload")
        let points = try points(bytes, isCompressed: isCompressed, count: upload.count, "upload")

        let position = StreamPosition(
            stream: stream, epoch: 0, previous: 0, first: upload.firstSequence, count: upload.count)
        var checked = CheckedBatch(
            batch: IngestBatch(
                service: service, entity: try self.entity(of: upload).name, position: position, points: [],
                sequences: [],
                payload: EncodedPoints(isCompressed: isCompressed, bytes: bytes), received: now),
            refusals: [])
        checked.batch.fencesUsed = try fencesUsed(in: upload)
        let foreign = problem(withEntity: name)
        keep(points, numberedFrom: upload.firstSequence, in: &checked) {
            foreign ?? PointRules.problem(with: $0, at: now, lead: limits.pointLead)
        }
        checked.batch.sequences = refusedLeftOut(of: upload.firstSequence..<end, checked.refusals)
        return checked
    }

    private func fencesUsed(in upload: Upload) throws(ProtocolViolation) -> [FencesUsed] {
        // Each costs a reading of the store. Points from before the newest uses are judged by the present fences: a refusal
        // would stop the vehicle's track for good.
        let uses = upload.fenceUses.suffix(WireLimits.fenceUses).map { use in
            FencesUsed(
                version: Int64(clamping: use.version), after: Timestamp(milliseconds: use.after),
                base: Int64(clamping: use.base))
        }
        guard zip(uses, uses.dropFirst()).allSatisfy({ $0.after <= $1.after }), uses.allSatisfy({ $0.version > 0 })
        else { throw ProtocolViolation("upload: fence_uses must be in the order of after, with a version above 0") }
        return uses
    }

    /// Throws the reason for the reply to the sender: the connection goes on.
    func check(_ custom: Points, at now: Timestamp) throws(ProtocolViolation) -> CheckedBatch {
        let name = try entityName(custom.entity, "points")
        if !name.utf8.elementsEqual(entity.utf8), let problem = EntityName.problem(withNew: name) {
            throw ProtocolViolation("points: \(problem)")
        }
        // The device's former entities do not matter: these points are no track of the device.
        if let problem = limits.devicePolicy.problem(naming: [name], by: entity) {
            throw ProtocolViolation("points: \(problem)")
        }
        let isCompressed = try isCompressed(custom.encoding, "points")
        let bytes = try payload(custom.payloadBytes, "points")
        let points = try points(bytes, isCompressed: isCompressed, count: custom.count, "points")
        var checked = CheckedBatch(
            batch: IngestBatch(
                service: service, entity: name, position: nil, points: [], sequences: [],
                payload: EncodedPoints(isCompressed: isCompressed, bytes: bytes), received: now),
            refusals: [])
        keep(points, numberedFrom: 0, in: &checked) { point in
            PointRules.problem(with: point, at: now, lead: limits.pointLead, age: limits.customPointAge)
        }
        return checked
    }

    /// The live hint of a heartbeat, without the attributes that are no columns, like a stored point.
    func checkLiveHint(_ bytes: [UInt8]) throws(ProtocolViolation) -> TrackPoint {
        guard bytes.count <= WireLimits.liveHintBytes else {
            throw ProtocolViolation(
                "heartbeat: a live hint has at most \(WireLimits.liveHintBytes) bytes, this one \(bytes.count)")
        }
        do {
            var point = try PointRecord.decode(bytes)
            point.attributes = point.attributes.filter { schema.kept($0.value, under: $0.key) != nil }
            return point
        } catch {
            throw ProtocolViolation("heartbeat: \(error.detail)")
        }
    }

    private func keep(
        _ points: [TrackPoint], numberedFrom first: UInt64, in checked: inout CheckedBatch,
        _ problem: (TrackPoint) -> String?
    ) {
        for (index, point) in points.enumerated() {
            guard let problem = problem(point) else { continue }
            let isAhead = PointRules.isAhead(point.fix.time, of: checked.batch.received, by: limits.pointLead)
            checked.refusals.append(
                PointRefusal(number: first &+ UInt64(index), reason: problem, isAhead: isAhead))
        }
        let points = fitting(points, in: &checked)
        guard !checked.refusals.isEmpty else {
            checked.batch.points = points
            return
        }
        let refused = Set(checked.refusals.map(\.number))
        checked.batch.points = points.indices.filter { !refused.contains(first &+ UInt64($0)) }.map { index in
            var point = points[index]
            if index > 0, refused.contains(first &+ UInt64(index - 1)) { point.tellRefusal() }
            return point
        }
        // The bytes as received hold the refused points too.
        checked.batch.payload = nil
    }

    /// The points without the attributes that are no columns of the service: a point is never refused for these.
    private func fitting(_ points: [TrackPoint], in checked: inout CheckedBatch) -> [TrackPoint] {
        var fitting = points
        for (index, point) in points.enumerated() where !point.attributes.isEmpty {
            for (key, value) in point.attributes where schema.kept(value, under: key) == nil {
                fitting[index].attributes[key] = nil
                checked.ignoredKeys.insert(key)
            }
        }
        // The bytes as received hold what is left out.
        if !checked.ignoredKeys.isEmpty { checked.batch.payload = nil }
        return fitting
    }

    private func refusedLeftOut(of sequences: Range<UInt64>, _ refusals: [PointRefusal]) -> [UInt64] {
        guard !refusals.isEmpty else { return Array(sequences) }
        let refused = Set(refusals.map(\.number))
        return sequences.filter { !refused.contains($0) }
    }

    private func entityName(_ name: String, _ message: StaticString) throws(ProtocolViolation) -> String {
        if name.isEmpty { return entity }
        if let problem = EntityName.problem(with: name) { throw ProtocolViolation("\(message): \(problem)") }
        return name
    }

    private func isCompressed(_ encoding: Encoding, _ message: StaticString) throws(ProtocolViolation) -> Bool {
        switch encoding {
        case .plain: return false
        case .zlib: return true
        case .UNRECOGNIZED(let number): throw ProtocolViolation("\(message): encoding \(number) is not known")
        }
    }

    private func payload(_ bytes: [UInt8], _ message: StaticString) throws(ProtocolViolation) -> [UInt8] {
        guard bytes.count <= limits.windowBytes else {
            throw ProtocolViolation(
                "\(message): a payload has at most \(limits.windowBytes) bytes, this one \(bytes.count)")
        }
        return bytes
    }

    private func points(
        _ bytes: [UInt8], isCompressed: Bool, count: UInt32, _ message: StaticString
    ) throws(ProtocolViolation) -> [TrackPoint] {
        guard (1...UInt32(clamping: limits.batchPoints)).contains(count) else {
            throw ProtocolViolation("\(message): a batch has 1 to \(limits.batchPoints) points, this one \(count)")
        }
        let points: [TrackPoint]
        do {
            points = try BatchCodec.decode(bytes, isCompressed: isCompressed, maximumCount: limits.batchPoints)
        } catch {
            throw ProtocolViolation("\(message): \(error.detail)")
        }
        guard points.count == Int(count) else {
            throw ProtocolViolation("\(message): \(count) points announced, \(points.count) came")
        }
        return points
    }
}

extension TrackPoint {
    /// The points before this one were refused: the gap of the track has this reason.
    fileprivate mutating func tellRefusal() { continuity?.tellLoss(.refused, before: fix.time) }
}

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
        // The vehicle itself has published it.
        let others = uploaded.remoteTo.filter { ExactName($0) != ExactName(entity) }
        guard !others.isEmpty else { return CausedAlarm(alarm) }
        body.point.received = now
        body.previous?.received = now
        let push = NewPush(
            type: PushRules.vehicleAlarm, body: body.text(most: PushRules.maximumBodyBytes),
            targets: .entities(others), alarm: body.key, about: entity)
        return CausedAlarm(alarm, pushes: [push])
    }

    /// Each receiver is a row of the transaction. The receivers of a server fence's alarm follow from the fence.
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

extension IngestBatch {
    /// Two times that are farther apart, in milliseconds, are looked for apart: a range must not hold half a track.
    private static let gap: Int64 = 60_000

    /// Ranges that hold the times of the points up to a sequence, ascending.
    func times(through sequence: UInt64) -> [ClosedRange<Timestamp>] {
        let times = zip(points, sequences).prefix { $0.1 <= sequence }.map(\.0.fix.time).sorted()
        var ranges: [ClosedRange<Timestamp>] = []
        for time in times {
            if let last = ranges.last, time.milliseconds(since: last.upperBound) <= Self.gap {
                ranges[ranges.count - 1] = last.lowerBound...time
            } else {
                ranges.append(time...time)
            }
        }
        return ranges
    }
}
