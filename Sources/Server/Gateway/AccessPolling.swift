import Logging
import TrackModel
import TrackStore

/// Ends the sessions of access keys that do not open their service any more, whoever ended the keys.
///
/// Keys are changed by another process (`saker-server service rotate-key`), so the store is asked from time to time.
final class KeyRevocationPoller: Sendable {
    /// How often the store is asked.
    static let interval = Duration.seconds(2)

    private let store: any TrackStore
    private let registry: SessionRegistry
    private let sleep: @Sendable (Duration) async -> Void
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    init(
        store: any TrackStore, registry: SessionRegistry, sleep: @escaping @Sendable (Duration) async -> Void,
        now: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.sleep = sleep
        self.now = now
        self.logger = logger
    }

    /// Works until it is cancelled.
    func run() async {
        await ChangePolling(subject: "keys", interval: Self.interval, sleep: sleep, logger: logger).run {
            () async throws(TrackStoreError) in
            try await look()
            return false
        }
    }

    private func look() async throws(TrackStoreError) {
        let uses = registry.keys
        guard !uses.isEmpty else { return }
        for use in try await store.endedKeys(among: uses, at: now()) {
            let links = registry.links(using: use)
            guard !links.isEmpty else { continue }
            logger.notice(
                "an access key has ended, and its sessions end with it",
                metadata: ["service": "\(use.service.rawValue)", "sessions": "\(links.count)"])
            for link in links { link.perform { $0.keyEnded() } }
        }
    }
}

/// Ends the sessions of services that were deleted, whoever deleted them.
///
/// Services are deleted by another process (`saker-server service delete`), so the store is asked from time to time. Every
/// session is looked at each time, so a login that read the store before the deletion is found too.
final class ServiceDeletionPoller: Sendable {
    /// How often the store is asked: a session ends within a second after the deletion.
    static let interval = Duration.milliseconds(500)

    private let store: any ServiceDeletionStore
    private let registry: SessionRegistry
    private let sleep: @Sendable (Duration) async -> Void
    private let logger: Logger

    init(
        store: any ServiceDeletionStore, registry: SessionRegistry, sleep: @escaping @Sendable (Duration) async -> Void,
        logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.sleep = sleep
        self.logger = logger
    }

    /// Works until it is cancelled.
    func run() async {
        await ChangePolling(subject: "services", interval: Self.interval, sleep: sleep, logger: logger).run {
            () async throws(TrackStoreError) in
            try await look()
            return false
        }
    }

    private func look() async throws(TrackStoreError) {
        let services = registry.services
        guard !services.isEmpty else { return }
        for service in try await store.deletedServices(among: services) {
            let links = registry.links(of: service)
            guard !links.isEmpty else { continue }
            logger.notice(
                "a service was deleted, and its sessions end",
                metadata: ["service": "\(service.rawValue)", "sessions": "\(links.count)"])
            for link in links { link.perform { $0.serviceEnded() } }
        }
    }
}

/// Ends the sessions of devices that were revoked, forgotten or moved, and lets in those whose copy was dealt with, whoever did
/// it.
///
/// Devices are changed by another process (`saker-server device revoke`), so the store is asked for changes.
final class DeviceChangePoller: Sendable {
    /// How often the store is asked: a session ends within a second after its device was revoked.
    static let interval = Duration.milliseconds(500)
    /// Looks for which a changed device is remembered, a minute: a login that read the store before the change may open its
    /// session after it.
    private static let looksRemembered = 120
    private static let changesRead = 1000

    private let store: any TrackStore
    private let registry: SessionRegistry
    private let clones: CloneEnforcement
    private let sleep: @Sendable (Duration) async -> Void
    private let logger: Logger

    init(
        store: any TrackStore, registry: SessionRegistry, clones: CloneEnforcement,
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
        var cursor: Int64?
        /// Changed devices, and for how many looks more they are remembered.
        var recent: [DeviceID: Int] = [:]
    }

    /// Works until it is cancelled.
    func run() async {
        var heard = Heard()
        await ChangePolling(subject: "devices", interval: Self.interval, sleep: sleep, logger: logger).run {
            () async throws(TrackStoreError) in
            do throws(TrackStoreError) {
                try await look(&heard)
            } catch {
                // Nobody knows what was changed before the first answer.
                heard.cursor = heard.cursor ?? 0
                throw error
            }
            return false
        }
    }

    private func look(_ heard: inout Heard) async throws(TrackStoreError) {
        guard let cursor = heard.cursor else {
            heard.cursor = try await store.deviceChanges(after: nil, limit: 1).through
            return
        }
        var from = cursor
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
        heard.cursor = from
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

/// Asks the store for changes again and again. A failure is logged once, until the store answers again.
struct ChangePolling: Sendable {
    /// What the store cannot tell of, for the log.
    let subject: String
    let interval: Duration
    let sleep: @Sendable (Duration) async -> Void
    let logger: Logger

    /// Works until its task is cancelled. `look`: true when more changes wait, so that the store is asked again at once.
    func run(_ look: () async throws(TrackStoreError) -> Bool) async {
        var isFailing = false
        while !Task.isCancelled {
            do throws(TrackStoreError) {
                let hasMore = try await look()
                isFailing = false
                if hasMore { continue }
            } catch {
                // The end of the server cuts a reading short: that is no failure of the store.
                guard !Task.isCancelled else { return }
                if !isFailing {
                    logger.error("The store cannot tell of \(subject)", metadata: ["reason": "\(error.detail)"])
                }
                isFailing = true
            }
            await sleep(interval)
        }
    }
}
