import Logging
import Synchronization
import Systemd
import TrackModel
import TrackStore
import TrackWire

/// Turns two computers with the certificate of one device away: asks ``CloneWatch``, ends the sessions of both, and has the store
/// remember it for the operator.
final class CloneDesk: Sendable {
    private let store: any TrackStore
    private let registry: SessionRegistry
    private let lines: SenderLog
    /// Devices of which the operator was told without proof, and when.
    private let noticed = Mutex<[DeviceID: Timestamp]>([:])
    /// The machine decides within the lock; what follows happens after it.
    private let watch = Mutex(CloneWatch())

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
        guard case .cloned(let other, let isNews) = verdict else { return }
        let reason = Self.reason(device.id)
        for session in registry.sessions(of: device.id) { session.link.perform { $0.deviceCloned(reason) } }
        if isNews {
            lines.write(
                .warning, "two computers have the certificate of one device, and neither may log in",
                [
                    "device": "\(device.id)", "service": "\(device.service.rawValue)", "entity": "\(device.entity)",
                    "address": "\(address)", "other_address": "\(other)", "message_id": "\(MessageID.deviceCloned)",
                ], of: .vehicle(EntityKey(service: device.service, name: device.entity)))
        }
        await note(device.id, at: now)
        throw LoginRefusal(.cloned, reason, retryAfter: CloneWatch.retryAfter)
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
        guard sessions.count > 1, let other = TwinRules.other(of: session, among: sessions.map(\.session)),
            let own = sessions.first(where: { $0.session.number == session })
        else { return nil }
        let isNews = noticed.withLock { noticed in
            if let former = noticed[device], (0..<Self.noticeInterval).contains(now.milliseconds(since: former)) {
                return false
            }
            if noticed.count >= Self.mostNoticed { noticed = [:] }
            noticed[device] = now
            return true
        }
        guard isNews else { return nil }
        lines.write(
            .warning,
            "several computers seem to have the certificate of one device: one may be a copy of the other's disk",
            [
                "device": "\(device)", "service": "\(own.entity.service.rawValue)", "entity": "\(own.entity.name)",
                "address": "\(own.session.address)", "other_address": "\(other)", "sessions": "\(sessions.count)",
                "message_id": "\(MessageID.deviceCloned)",
            ], of: .vehicle(own.entity))
        return { await self.note(device, at: now) }
    }

    /// Whether a session that has just opened must end: its twin came while the store was asked for it.
    func refuses(_ device: DeviceID, _ arrival: DeviceArrival?) -> Bool {
        guard let arrival else { return false }
        return watch.withLock { $0.refuses(device, arrival) }
    }

    /// Whether a change of this device may be that somebody has put it in order.
    func isWaiting(for device: DeviceID) -> Bool { watch.withLock { $0.hasRefused(device) } }

    /// Somebody has put the device in order.
    func forget(_ device: DeviceID) {
        watch.withLock { $0.forget(device) }
        noticed.withLock { $0[device] = nil }
    }
}
