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

/// The open sessions, at most one a stream and a few of a vehicle.
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

    /// What a new session means for others.
    struct Entrance {
        /// The one that had the stream.
        var replaced: SessionLink?
        /// Where that one came from, when the same device or key had opened it.
        var replacedAddress: String?
        /// The oldest ones of its vehicle, which has too many: they are to be closed.
        var surplus: [SessionLink] = []
        /// The vehicle's other ones.
        var others: [SessionLink] = []
    }

    private let mostOfVehicle: Int

    init(mostOfVehicle: Int = GatewayLimits().sessionsOfVehicle) {
        self.mostOfVehicle = max(1, mostOfVehicle)
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

        mutating func end(_ number: UInt64) -> Entry? {
            guard let entry = remove(number) else { return nil }
            if byStream[entry.key] == number { byStream[entry.key] = nil }
            return entry
        }

        /// The sessions of the vehicle that has this one, the oldest first: of its device, or of its entity with access keys.
        func ofVehicle(_ entry: Entry) -> [UInt64] {
            switch entry.access {
            case .device: byAccess[entry.access, default: []].sorted()
            case .key:
                byEntity[Place(entry.info.entity, entry.info.service), default: []].filter { number in
                    if case .key? = entries[number]?.access { true } else { false }
                }.sorted()
            }
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

    /// Adds a session. `start`: of the computer, as ``DeviceArrival`` says.
    func add(
        _ info: SessionInfo, stream: StreamID, access: SessionAccess, start: [UInt8]? = nil, link: SessionLink
    ) -> Entrance {
        state.withLock { state in
            let key = Key(service: info.service, stream: stream)
            let former = state.byStream[key].flatMap { state.remove($0) }
            let entry = Entry(info: info, link: link, key: key, access: access, start: start)
            state.entries[info.number] = entry
            state.byStream[key] = info.number
            state.byEntity[Place(info.entity, info.service), default: []].insert(info.number)
            state.byAccess[access, default: []].insert(info.number)
            state.byService[info.service, default: 0] += 1
            var entrance = Entrance(replaced: former?.link)
            if former?.access == access { entrance.replacedAddress = former?.info.address }
            let sessions = state.ofVehicle(entry)
            guard sessions.count > 1 else { return entrance }
            let surplus = sessions.prefix(max(0, sessions.count - mostOfVehicle)).compactMap { state.end($0) }
            entrance.surplus = surplus.map(\.link)
            entrance.others = sessions.filter { $0 != info.number }.compactMap { state.entries[$0]?.link }
            return entrance
        }
    }

    /// Harmless for a session that was replaced. Returns the newest one of its vehicle that goes on.
    func remove(_ number: UInt64) -> SessionLink? {
        state.withLock { state in
            guard let entry = state.end(number) else { return nil }
            return state.ofVehicle(entry).last.flatMap { state.entries[$0]?.link }
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

    /// The sessions of a device, to tell computers apart; none when it has only one.
    func twins(of device: DeviceID) -> [(session: CertificateSharingRules.Session, entity: EntityKey)] {
        state.withLock { state in
            guard let numbers = state.byAccess[.device(device)], numbers.count > 1 else { return [] }
            return numbers.sorted().compactMap { number in
                guard let entry = state.entries[number] else { return nil }
                let session = CertificateSharingRules.Session(
                    number: number, address: entry.info.address, start: entry.start)
                return (session, EntityKey(service: entry.info.service, name: entry.info.entity))
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

    /// The devices of all sessions.
    var devices: Set<DeviceID> {
        state.withLock { state in
            Set(state.byAccess.keys.compactMap { if case .device(let id) = $0 { id } else { nil } })
        }
    }

    var links: [SessionLink] { state.withLock { $0.entries.values.map(\.link) } }

    var count: Int { state.withLock { $0.entries.count } }

    /// In the order of their logins.
    var sessions: [SessionInfo] {
        state.withLock { $0.entries.values.map(\.info) }.sorted { $0.number < $1.number }
    }
}
