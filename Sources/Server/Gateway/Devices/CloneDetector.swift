import Logging
import Synchronization
import Systemd
import TrackModel
import TrackStore
import TrackWire

/// A login of a device, as far as it tells computers apart.
struct DeviceArrival: Hashable, Sendable {
    /// Sixteen bytes that name the present start of the computer.
    var boot: [UInt8]
    /// When the server took the connection. The computer answered after it, so it ran with this start after it.
    var connected: MonotonicTime
    /// When the Hello came. The computer ran with this start before it.
    var greeted: MonotonicTime
}

/// Notices that two computers have the certificate of one device: one is a copy of the other's disk. Knows no clock, no
/// session and no store.
///
/// A computer that restarts has another start from then on and never comes back to an earlier one. So of two starts of one
/// computer, one is over before the other one begins. Two starts of which each was seen after the other are those of two
/// computers. When a connection was taken and when its Hello came bound the moment in which the computer ran; so a Hello that
/// comes late, or that the store answers late, proves nothing.
struct CloneDetector: Sendable {
    /// Milliseconds without a sign of the other computer after which a computer is let in again.
    static let silence: Int64 = 30 * 60_000
    /// Seconds until a refused computer may ask again: it asks twice within ``silence``, even with the jitter of an agent.
    static let retryAfter: UInt32 = 600

    enum Verdict: Hashable {
        case admitted
        /// `other`: where the other computer came from last. `isNew`: nobody was refused for it within ``silence``.
        case cloned(other: String, isNew: Bool)
    }

    private struct Start: Hashable {
        let boot: [UInt8]
        /// The earliest moment at which it surely had begun.
        var begunBy: MonotonicTime
        /// The latest moment after which it surely still went on.
        var lastedBeyond: MonotonicTime
        /// Of the last sign of it: a login, or an open session.
        var seen: MonotonicTime
        var address: String

        func isOfAnotherComputer(than other: Start) -> Bool {
            lastedBeyond > other.begunBy && other.lastedBeyond > begunBy
        }
    }

    private struct Device: Hashable {
        var starts: [Start] = []
        /// When a login was refused last.
        var refused: MonotonicTime?

        var seen: MonotonicTime { starts.map(\.seen).max() ?? .distantPast }
    }

    private let mostDevices: Int
    private let mostStarts: Int
    private var devices: [DeviceID: Device] = [:]

    /// `devices`: the bound on memory; who was seen longest ago is forgotten. `starts`: the same for each device, at least 2.
    init(devices: Int = 100_000, starts: Int = 8) {
        (mostDevices, mostStarts) = (max(devices, 1), max(starts, 2))
    }

    /// A device with a certificate in order logs in from an address. `live`: the starts of its open sessions.
    mutating func loggedIn(
        _ id: DeviceID, _ arrival: DeviceArrival, from address: String, live: Set<[UInt8]>
    ) -> Verdict {
        let now = arrival.greeted
        if devices[id] == nil { makeRoom() }
        var device = devices[id] ?? Device()
        for index in device.starts.indices where live.contains(device.starts[index].boot) {
            device.starts[index].seen = max(device.starts[index].seen, now)
        }
        note(arrival, from: address, in: &device)
        let other = rival(of: arrival.boot, in: device, now: now)
        let isNew = device.refused.map { now - $0 > Self.silence } ?? true
        if other != nil { device.refused = now }
        devices[id] = device
        return other.map { .cloned(other: $0.address, isNew: isNew) } ?? .admitted
    }

    /// Whether a login that was admitted would be refused by now.
    func refuses(_ id: DeviceID, _ arrival: DeviceArrival) -> Bool {
        devices[id].flatMap { rival(of: arrival.boot, in: $0, now: arrival.greeted) } != nil
    }

    /// Whether logins of the device were refused, and nobody has made it forgotten since.
    func hasRefused(_ id: DeviceID) -> Bool { devices[id]?.refused != nil }

    /// Devices for which ``hasRefused(_:)`` is true.
    var refused: Set<DeviceID> { Set(devices.lazy.filter { $0.value.refused != nil }.map(\.key)) }

    /// Somebody has put the device in order: what was seen of it so far does not count any more.
    mutating func forget(_ id: DeviceID) { devices[id] = nil }

    var count: Int { devices.count }

    // MARK: What was seen

    private func note(_ arrival: DeviceArrival, from address: String, in device: inout Device) {
        guard let index = device.starts.firstIndex(where: { $0.boot == arrival.boot }) else {
            if device.starts.count >= mostStarts,
                let oldest = device.starts.indices.min(by: { device.starts[$0].seen < device.starts[$1].seen })
            {
                device.starts.remove(at: oldest)
            }
            device.starts.append(
                Start(
                    boot: arrival.boot, begunBy: arrival.greeted, lastedBeyond: arrival.connected,
                    seen: arrival.greeted, address: address))
            return
        }
        device.starts[index].begunBy = min(device.starts[index].begunBy, arrival.greeted)
        device.starts[index].lastedBeyond = max(device.starts[index].lastedBeyond, arrival.connected)
        device.starts[index].seen = max(device.starts[index].seen, arrival.greeted)
        device.starts[index].address = address
    }

    /// The computer beside this one that was seen last, and lately.
    private func rival(of boot: [UInt8], in device: Device, now: MonotonicTime) -> Start? {
        guard let own = device.starts.first(where: { $0.boot == boot }) else { return nil }
        return device.starts.filter { other in
            other.boot != boot && own.isOfAnotherComputer(than: other) && now - other.seen < Self.silence
        }.max { $0.seen < $1.seen }
    }

    /// A tenth at a time, so that a full table does not cost a search at each login.
    private mutating func makeRoom() {
        guard devices.count >= mostDevices else { return }
        let oldest = devices.sorted { $0.value.seen < $1.value.seen }.prefix(max(mostDevices / 10, 1))
        for (id, _) in oldest { devices[id] = nil }
    }
}

/// Notices several computers with the certificate of one device where ``CloneDetector`` cannot: when one of them does not say which
/// start of its computer it is, as old agents do, and agents that somebody has changed.
///
/// One agent has one stream, and one connection at a time. When its network changes, its last connection stays open for a
/// while and is silent. So two sessions from two addresses are two computers when the older one still speaks, and three or more
/// are not one agent's in any case. It is no proof, so nobody is turned away for it: the operator is told.
enum CertificateSharingRules {
    struct Session: Hashable {
        let number: UInt64
        let address: String
        /// Which start of its computer the agent has named; nil: none.
        let start: [UInt8]?
    }

    /// The address of another computer; nil: nothing speaks for one. `sessions`: the open ones of a device, each with a stream of
    /// its own. `speaking`: the number of a session that has just been heard, or has just begun.
    static func other(of speaking: UInt64, among sessions: [Session]) -> String? {
        guard let own = sessions.first(where: { $0.number == speaking }) else { return nil }
        let others = sessions.filter { $0.address != own.address && ($0.start == nil || own.start == nil) }
        // Numbers ascend with the logins.
        if let newer = others.first(where: { $0.number > speaking }) { return newer.address }
        return sessions.count > 2 ? others.first?.address : nil
    }
}

/// Turns two computers with the certificate of one device away: asks ``CloneDetector``, ends the sessions of both, and has the store
/// remember it for the operator.
final class CloneEnforcement: Sendable {
    private let store: any TrackStore
    private let registry: SessionRegistry
    private let lines: SenderLog
    /// Devices of which the operator was told without proof, and when.
    private let noticed = Mutex<[DeviceID: Timestamp]>([:])
    /// The machine decides within the lock; what follows happens after it.
    private let watch = Mutex(CloneDetector())
    private let takeovers = Mutex(TakeoverDetector())

    init(store: any TrackStore, registry: SessionRegistry, lines: SenderLog) {
        self.store = store
        self.registry = registry
        self.lines = lines
    }

    /// What the agent and its operator are told.
    static func reason(_ device: DeviceID) -> String {
        "two computers that run at the same time have the certificate of this device (\(device)): one is a copy of the other's "
            + "disk. On the copy: sudo saker image prepare, then enrol it as a vehicle of its own"
    }

    /// Nothing happens when the agent does not say which start of its computer this is.
    ///
    /// - Throws: ``LoginRefusal`` when another computer is this device too.
    func check(
        _ device: DeviceRecord, _ request: LoginRequest, from address: String, at now: Timestamp
    ) async throws(LoginRefusal) {
        guard let arrival = request.arrival else { return }
        let live = registry.starts(of: device.id)
        let verdict = watch.withLock { $0.loggedIn(device.id, arrival, from: address, live: live) }
        guard case .cloned(let other, let isNew) = verdict else { return }
        let reason = Self.reason(device.id)
        for session in registry.sessions(of: device.id) { session.link.perform { $0.deviceCloned(reason) } }
        if isNew {
            lines.write(
                .warning, "two computers have the certificate of one device, and neither may log in",
                [
                    "device": "\(device.id)", "service": "\(device.service.rawValue)", "entity": "\(device.entity)",
                    "address": "\(address)", "other_address": "\(other)", "message_id": "\(MessageID.deviceCloned)",
                ], of: .vehicle(EntityKey(service: device.service, name: device.entity)))
        }
        await note(device.id, at: now)
        throw LoginRefusal(.cloned, reason, retryAfter: CloneDetector.retryAfter)
    }

    private func note(_ device: DeviceID, at now: Timestamp) async {
        do throws(TrackStoreError) {
            try await store.noteClone(of: device, at: now)
        } catch {
            lines.write(
                .error, "The store cannot note that a device is cloned", ["reason": "\(error.detail)"], of: .store)
        }
    }

    // MARK: Without proof

    /// Milliseconds after which the operator is told again.
    private static let noticeInterval: Int64 = 3_600_000
    private static let mostNoticed = 10_000

    /// A session of a device has begun, or was heard. Tells the operator when another computer seems to have its certificate too.
    /// Nil: nothing is to be told. Otherwise do what it returns.
    func heard(_ session: UInt64, of device: DeviceID, at now: Timestamp) -> (@Sendable () async -> Void)? {
        let sessions = registry.twins(of: device)
        guard sessions.count > 1,
            let other = CertificateSharingRules.other(of: session, among: sessions.map(\.session)),
            let own = sessions.first(where: { $0.session.number == session })
        else { return nil }
        return notice(
            device, own.entity, from: own.session.address, other: other, "sessions", sessions.count, at: now)
    }

    /// A login from `address` has taken the stream of an open session of the same device, which came from another one or the same.
    func taken(
        _ device: DeviceID, _ entity: EntityKey, by address: String, from former: String, at now: Timestamp
    ) -> (@Sendable () async -> Void)? {
        guard takeovers.withLock({ $0.taken(device, isElsewhere: address != former, at: now) }) else { return nil }
        return notice(device, entity, from: address, other: former, "replaced", TakeoverDetector.moves, at: now)
    }

    /// A session whose stream a login from `successor` has taken has ended. `isAnswered`: by its agent's answer.
    func ended(
        _ device: DeviceID, _ entity: EntityKey, _ session: (address: String, isAnswered: Bool),
        takenBy successor: String, at now: Timestamp
    ) -> (@Sendable () async -> Void)? {
        guard takeovers.withLock({ $0.ended(device, isAnswered: session.isAnswered, at: now) }) else { return nil }
        let answers = TakeoverDetector.answers
        return notice(device, entity, from: session.address, other: successor, "replaced", answers, at: now)
    }

    private func notice(
        _ device: DeviceID, _ entity: EntityKey, from address: String, other: String, _ what: String, _ count: Int,
        at now: Timestamp
    ) -> (@Sendable () async -> Void)? {
        let isNew = noticed.withLock { noticed in
            if let former = noticed[device], (0..<Self.noticeInterval).contains(now.milliseconds(since: former)) {
                return false
            }
            if noticed.count >= Self.mostNoticed { noticed = [:] }
            noticed[device] = now
            return true
        }
        guard isNew else { return nil }
        lines.write(
            .warning,
            "several computers seem to have the certificate of one device: one may be a copy of the other's disk",
            [
                "device": "\(device)", "service": "\(entity.service.rawValue)", "entity": "\(entity.name)",
                "address": "\(address)", "other_address": "\(other)", "\(what)": "\(count)",
                "message_id": "\(MessageID.deviceCloned)",
            ], of: .vehicle(entity))
        return { await self.note(device, at: now) }
    }

    /// Whether a session that has just opened must end: its twin came while the store was asked for it.
    func refuses(_ device: DeviceID, _ arrival: DeviceArrival?) -> Bool {
        guard let arrival else { return false }
        return watch.withLock { $0.refuses(device, arrival) }
    }

    /// Whether a change of this device may be that somebody has put it in order.
    func isWaiting(for device: DeviceID) -> Bool { watch.withLock { $0.hasRefused(device) } }

    /// Devices for which ``isWaiting(for:)`` is true.
    var waiting: Set<DeviceID> { watch.withLock { $0.refused } }

    /// Somebody has put the device in order.
    func forget(_ device: DeviceID) {
        watch.withLock { $0.forget(device) }
        takeovers.withLock { $0.forget(device) }
        noticed.withLock { $0[device] = nil }
    }
}
