import Logging
import TrackModel
import TrackStore

/// Ends the sessions of devices that were revoked, forgotten or moved, and lets in those whose copy was dealt with, whoever did
/// it.
///
/// Devices are changed by another process (`saker-server device revoke`), so the store is asked for changes.
final class DeviceWatch: Sendable {
    /// How often the store is asked: a session ends within a second after its device was revoked.
    static let interval = Duration.milliseconds(500)
    /// Looks for which a changed device is remembered, a minute: a login that read the store before the change may open its
    /// session after it.
    private static let looksRemembered = 120
    private static let changesRead = 1000

    private let store: any TrackStore
    private let registry: SessionRegistry
    private let clones: CloneDesk
    private let sleep: @Sendable (Duration) async -> Void
    private let logger: Logger

    init(
        store: any TrackStore, registry: SessionRegistry, clones: CloneDesk,
        sleep: @escaping @Sendable (Duration) async -> Void, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.clones = clones
        self.sleep = sleep
        self.logger = logger
    }

    /// What was heard so far.
    private struct Heard {
        var mark: Int64?
        /// Changed devices, and for how many looks more they are remembered.
        var recent: [DeviceID: Int] = [:]
    }

    /// Works until it is cancelled.
    func run() async {
        var heard = Heard()
        var isFailing = false
        while !Task.isCancelled {
            do throws(TrackStoreError) {
                try await look(&heard)
                isFailing = false
            } catch {
                // Nobody knows what was changed before the first answer.
                heard.mark = heard.mark ?? 0
                if !isFailing {
                    logger.error("The store cannot tell of devices", metadata: ["reason": "\(error.detail)"])
                }
                isFailing = true
            }
            await sleep(Self.interval)
        }
    }

    private func look(_ heard: inout Heard) async throws(TrackStoreError) {
        guard let mark = heard.mark else {
            heard.mark = try await store.deviceChanges(after: nil, limit: 1).through
            return
        }
        var from = mark
        while true {
            let (through, devices) = try await store.deviceChanges(after: from, limit: Self.changesRead)
            for device in devices {
                heard.recent[device] = Self.looksRemembered
                if clones.isWaiting(for: device), try await store.device(device)?.cloned == nil {
                    clones.forget(device)
                    logger.notice("a device of which there were two is let in again", metadata: ["device": "\(device)"])
                }
            }
            from = through
            if devices.count < Self.changesRead { break }
        }
        heard.mark = from
        for device in heard.recent.keys {
            let sessions = registry.sessions(of: device)
            guard !sessions.isEmpty else { continue }
            let record = try await store.device(device)
            for session in sessions { end(session, record, device) }
        }
        heard.recent = heard.recent.compactMapValues { $0 > 1 ? $0 - 1 : nil }
    }

    private func end(
        _ session: (info: SessionInfo, link: SessionLink), _ record: DeviceRecord?, _ device: DeviceID
    ) {
        guard let problem = DeviceRules.problem(with: record, in: session.info) else { return }
        logger.notice(
            "a device was changed, and its session ends",
            metadata: [
                "device": "\(device)", "reason": "\(problem)", "service": "\(session.info.service.rawValue)",
                "entity": "\(session.info.entity)",
            ])
        session.link.perform { $0.deviceEnded(problem) }
    }
}
