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
    private let logger: Logger
    /// The machine decides within the lock; what follows happens after it.
    private let watch = Mutex(CloneWatch())

    init(store: any TrackStore, registry: SessionRegistry, logger: Logger) {
        self.store = store
        self.registry = registry
        self.logger = logger
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
            logger.warning(
                "two computers have the certificate of one device, and neither may log in",
                metadata: [
                    "device": "\(device.id)", "service": "\(device.service.rawValue)", "entity": "\(device.entity)",
                    "address": "\(address)", "other_address": "\(other)", "message_id": "\(MessageID.deviceCloned)",
                ])
        }
        do throws(TrackStoreError) {
            try await store.noteClone(of: device.id, at: now)
        } catch {
            logger.error("The store cannot note that a device is cloned", metadata: ["reason": "\(error.detail)"])
        }
        throw LoginRefusal(.cloned, reason, retryAfter: CloneWatch.retryAfter)
    }

    /// Whether a session that has just opened must end: its twin came while the store was asked for it.
    func refuses(_ device: DeviceID, _ arrival: DeviceArrival?) -> Bool {
        guard let arrival else { return false }
        return watch.withLock { $0.refuses(device, arrival) }
    }

    /// Whether a change of this device may be that somebody has put it in order.
    func isWaiting(for device: DeviceID) -> Bool { watch.withLock { $0.hasRefused(device) } }

    /// Somebody has put the device in order.
    func forget(_ device: DeviceID) { watch.withLock { $0.forget(device) } }
}
