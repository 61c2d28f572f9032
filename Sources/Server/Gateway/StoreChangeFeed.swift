import Ingest
import Logging
import TrackModel
import TrackStore

/// Reads the change feed of the store. Has the sessions that a change concerns read their messages and fences anew, and ends the
/// sessions of keys, services and devices that may not log in any more.
///
/// This process and others (`saker-server device revoke`, `saker-server push`) change the store, so the gateway asks it.
final class StoreChangeFeed: Sendable {
    /// How often the store is asked: a session ends within a second after its device was revoked.
    static let interval = Duration.milliseconds(500)
    /// Changes of each kind that are read at once.
    private static let changesAtOnce = 200

    private let store: any TrackStore
    private let registry: SessionRegistry
    private let clones: CloneEnforcement
    private let tasks: ServerTasks
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    init(
        store: any TrackStore, registry: SessionRegistry, clones: CloneEnforcement, tasks: ServerTasks,
        now: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        (self.store, self.registry, self.clones) = (store, registry, clones)
        (self.tasks, self.now, self.logger) = (tasks, now, logger)
    }

    private struct Reader {
        var cursor: StoreCursor?
        var access = ChangedAccess()
    }

    /// Works until its task is cancelled.
    func run() async {
        var reader = Reader()
        let polling = ChangePolling(interval: Self.interval, sleep: tasks.sleep, logger: logger)
        await polling.run { () async throws(TrackStoreError) in
            do throws(TrackStoreError) {
                return try await read(Set(StoreChange.Kind.allCases), &reader)
            } catch {
                // A damaged table does not hide the changes of the others.
                for kind in StoreChange.Kind.allCases { _ = try? await read([kind], &reader) }
                throw error
            }
        }
    }

    /// True: more changes wait.
    private func read(
        _ kinds: Set<StoreChange.Kind>, _ reader: inout Reader
    ) async throws(TrackStoreError) -> Bool {
        let found = try await store.changes(
            of: kinds, after: reader.cursor, at: now(), limit: Self.changesAtOnce)
        for kind in found.unknown {
            switch kind {
            case .access: reader.access.noteAll(of: registry, clones)
            case .pushes: for link in registry.links { link.perform { $0.pushesMayWait() } }
            case .fences: for link in registry.links { link.perform { $0.fencesMayHaveChanged() } }
            }
        }
        for change in found.changes {
            switch change {
            case .keys, .service, .device: reader.access.note(change)
            case .push(let notice):
                for link in links(of: notice.entities, in: notice.service) { link.perform { $0.pushesMayWait() } }
            case .fence(let notice):
                let entities = notice.concernsEveryone ? nil : notice.entities
                for link in links(of: entities, in: notice.service) { link.perform { $0.fencesMayHaveChanged() } }
            }
        }
        reader.cursor = found.through
        if kinds.contains(.access) {
            try await endSessions(reader.access)
            // Many changes are read one after the other at once: that is one time.
            if !found.hasMore { reader.access.judged() }
        }
        return found.hasMore
    }

    /// `entities`: nil for all of the service.
    private func links(of entities: [String]?, in service: ServiceID) -> [SessionLink] {
        guard let entities else { return registry.links(of: service) }
        return entities.flatMap { registry.links(of: $0, in: service) }
    }

    // MARK: Access

    private func endSessions(_ access: ChangedAccess) async throws(TrackStoreError) {
        guard !access.isEmpty else { return }
        for service in try await store.deletedServices(among: registry.services.intersection(access.services.keys)) {
            end(registry.links(of: service), "a service was deleted, and its sessions end", service) {
                $0.serviceEnded()
            }
        }
        let keys = registry.keys.filter { access.keys[$0.service] != nil }
        for use in try await store.endedKeys(among: keys, at: now()) {
            end(
                registry.links(using: use), "an access key has ended, and its sessions end with it", use.service
            ) { $0.keyEnded() }
        }
        for device in access.devices.keys { try await endSessions(of: device) }
    }

    private func end(
        _ links: [SessionLink], _ message: Logger.Message, _ service: ServiceID,
        _ action: @escaping @Sendable (GatewayConnection) -> Void
    ) {
        guard !links.isEmpty else { return }
        logger.notice(message, metadata: ["service": "\(service.rawValue)", "sessions": "\(links.count)"])
        for link in links { link.perform(action) }
    }

    private func endSessions(of device: DeviceID) async throws(TrackStoreError) {
        let sessions = registry.sessions(of: device)
        let isWaiting = clones.isWaiting(for: device)
        guard isWaiting || !sessions.isEmpty else { return }
        let record = try await store.device(device)
        if isWaiting, record?.cloned == nil {
            clones.forget(device)
            logger.notice("a device of which there were two is let in again", metadata: ["device": "\(device)"])
        }
        for session in sessions {
            guard let problem = DeviceRules.problem(with: record, in: session.info) else { continue }
            logger.notice(
                "a device was changed, and its session ends",
                metadata: [
                    "device": "\(device)", "reason": "\(problem)", "service": "\(session.info.service.rawValue)",
                    "entity": "\(session.info.entity)",
                ])
            session.link.perform { $0.deviceEnded(problem) }
        }
    }
}

/// Keys, services and devices that were changed lately, and how many times more their sessions are judged: a login that read
/// the store before the change may open its session after it.
private struct ChangedAccess {
    /// A minute, by ``StoreChangeFeed/interval``.
    private static let times = 120

    private(set) var keys: [ServiceID: Int] = [:]
    private(set) var services: [ServiceID: Int] = [:]
    private(set) var devices: [DeviceID: Int] = [:]

    var isEmpty: Bool { keys.isEmpty && services.isEmpty && devices.isEmpty }

    mutating func note(_ change: StoreChange) {
        switch change {
        case .keys(let service): keys[service] = Self.times
        case .service(let service): services[service] = Self.times
        case .device(let device): devices[device] = Self.times
        case .push, .fence: break
        }
    }

    /// Nobody knows what has changed.
    mutating func noteAll(of registry: SessionRegistry, _ clones: CloneEnforcement) {
        for service in registry.services { (keys[service], services[service]) = (Self.times, Self.times) }
        for device in registry.devices.union(clones.waiting) { devices[device] = Self.times }
    }

    mutating func judged() {
        keys = Self.remaining(keys)
        services = Self.remaining(services)
        devices = Self.remaining(devices)
    }

    private static func remaining<Key: Hashable>(_ counts: [Key: Int]) -> [Key: Int] {
        counts.compactMapValues { $0 > 1 ? $0 - 1 : nil }
    }
}

/// Asks the store for changes again and again. A failure is logged once, until the store answers again.
struct ChangePolling: Sendable {
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
                    logger.error("The store cannot tell of changes", metadata: ["reason": "\(error.detail)"])
                }
                isFailing = true
            }
            await sleep(interval)
        }
    }
}
