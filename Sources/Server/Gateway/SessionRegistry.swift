import Synchronization
package import TrackModel
import TrackStore

/// One login on one connection, for people.
package struct SessionInfo: Hashable, Sendable {
    /// As in the Welcome and in the logs.
    package var number: UInt64
    package var service: ServiceID
    package var entity: String
    package var address: String
    package var agentVersion: String
    /// By the server's clock.
    package var began: Timestamp
    /// The last live hint of the session; not part of the track.
    package var liveHint: TrackPoint?
}

/// What has opened a session.
enum SessionAccess: Hashable, Sendable {
    case key(AccessKeyUse)
    case device(DeviceID)
}

/// The open sessions, at most one a stream.
final class SessionRegistry: Sendable {
    private struct Key: Hashable {
        var service: ServiceID
        var stream: StreamID
    }

    /// Names are the same when their bytes are.
    private struct Place: Hashable {
        let service: ServiceID
        let entity: [UInt8]

        init(_ entity: String, _ service: ServiceID) {
            self.service = service
            self.entity = Array(entity.utf8)
        }
    }

    private struct Entry {
        var info: SessionInfo
        var link: SessionLink
        var key: Key
        var access: SessionAccess
        var start: [UInt8]?
    }

    private struct State {
        var next: UInt64 = 1
        var entries: [UInt64: Entry] = [:]
        var byStream: [Key: UInt64] = [:]
        var byEntity: [Place: Set<UInt64>] = [:]
        var byAccess: [SessionAccess: Set<UInt64>] = [:]
        /// How many sessions a service has.
        var byService: [ServiceID: Int] = [:]

        mutating func remove(_ number: UInt64) -> Entry? {
            guard let entry = entries.removeValue(forKey: number) else { return nil }
            let place = Place(entry.info.entity, entry.info.service)
            byEntity[place]?.remove(number)
            if byEntity[place]?.isEmpty == true { byEntity[place] = nil }
            byAccess[entry.access]?.remove(number)
            if byAccess[entry.access]?.isEmpty == true { byAccess[entry.access] = nil }
            let others = byService[entry.info.service, default: 1] - 1
            byService[entry.info.service] = others > 0 ? others : nil
            return entry
        }
    }

    private let state = Mutex(State())

    /// A number for a new session, never used before by this process.
    func makeNumber() -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
    }

    /// Adds a session; returns the one it replaces, which is to be closed. `start`: of the computer, as ``DeviceArrival`` says.
    func add(
        _ info: SessionInfo, stream: StreamID, access: SessionAccess, start: [UInt8]? = nil, link: SessionLink
    ) -> SessionLink? {
        state.withLock { state in
            let key = Key(service: info.service, stream: stream)
            let former = state.byStream[key].flatMap { state.remove($0) }
            state.entries[info.number] = Entry(info: info, link: link, key: key, access: access, start: start)
            state.byStream[key] = info.number
            state.byEntity[Place(info.entity, info.service), default: []].insert(info.number)
            state.byAccess[access, default: []].insert(info.number)
            state.byService[info.service, default: 0] += 1
            return former?.link
        }
    }

    /// Harmless for a session that was replaced.
    func remove(_ number: UInt64) {
        state.withLock { state in
            guard let entry = state.remove(number) else { return }
            if state.byStream[entry.key] == number { state.byStream[entry.key] = nil }
        }
    }

    func note(_ point: TrackPoint, of number: UInt64) {
        state.withLock { $0.entries[number]?.info.liveHint = point }
    }

    /// Of one entity: more than one when several agents log in as it.
    func links(of entity: String, in service: ServiceID) -> [SessionLink] {
        state.withLock { state in
            state.byEntity[Place(entity, service), default: []].compactMap { state.entries[$0]?.link }
        }
    }

    func links(of service: ServiceID) -> [SessionLink] {
        state.withLock { $0.entries.values.filter { $0.info.service == service }.map(\.link) }
    }

    /// The services of all sessions.
    var services: Set<ServiceID> { state.withLock { Set($0.byService.keys) } }

    /// The sessions that a key has opened.
    func links(using access: AccessKeyUse) -> [SessionLink] {
        state.withLock { state in state.byAccess[.key(access), default: []].compactMap { state.entries[$0]?.link } }
    }

    /// The sessions of a device.
    func sessions(of device: DeviceID) -> [(info: SessionInfo, link: SessionLink)] {
        state.withLock { state in
            state.byAccess[.device(device), default: []].compactMap { number in
                state.entries[number].map { ($0.info, $0.link) }
            }
        }
    }

    /// The starts of the computers that have sessions of a device.
    func starts(of device: DeviceID) -> Set<[UInt8]> {
        state.withLock { state in
            Set(state.byAccess[.device(device), default: []].compactMap { state.entries[$0]?.start })
        }
    }

    /// The keys of all sessions.
    var keys: Set<AccessKeyUse> {
        state.withLock { state in
            Set(state.byAccess.keys.compactMap { if case .key(let use) = $0 { use } else { nil } })
        }
    }

    var links: [SessionLink] { state.withLock { $0.entries.values.map(\.link) } }

    var count: Int { state.withLock { $0.entries.count } }

    /// In the order of their logins.
    var sessions: [SessionInfo] {
        state.withLock { $0.entries.values.map(\.info) }.sorted { $0.number < $1.number }
    }
}
