import CClock
import ConfigurationFile
package import Diagnosing
import Glibc
import TrackModel

/// Looks for everything that can keep this server from its work. Needs no running server, and changes nothing.
package struct ServerDoctor: Sendable {
    static let asRoot = "sudo saker-server doctor"

    private let path: String?

    private let beforeStore: @Sendable (ServerConfiguration) throws(ServerError) -> Void

    /// `path`: the configuration; nil: the first of the usual ones. `beforeStore`: called when the certificates and ports, which
    /// may be root's, have been examined, and the store has not.
    package init(
        configuration path: String?,
        beforeStore: @escaping @Sendable (ServerConfiguration) throws(ServerError) -> Void = { _ in }
    ) {
        self.path = path
        self.beforeStore = beforeStore
    }

    /// Ends within about 40 s, whatever hangs.
    package func examine() async -> CheckList<ServerSubject> {
        do throws(ConfigurationError) {
            return CheckList(await Self.facts(try ServerConfiguration.load(path: path), beforeStore))
        } catch {
            let remedy =
                "Correct it; saker-server serve --print-config shows what is in force. A new server: saker-server init"
            return CheckList {
                $0 == .configuration
                    ? .failed(error.detail, remedy) : .notChecked("the configuration was not read")
            }
        }
    }

    static func facts(
        _ configuration: ServerConfiguration,
        _ beforeStore: (ServerConfiguration) throws(ServerError) -> Void = { _ in }
    ) async -> ServerFacts {
        let certificates = await CertificateProbe.facts(configuration)
        let ports = await PortProbe.facts(configuration)
        let enrolmentProblem = enrolmentProblem(configuration)
        let look: Result<StoreFileFacts, StoreObstacle>
        do throws(ServerError) {
            try beforeStore(configuration)
            look = await StoreFactory.look(at: configuration.store, timeout: StoreProbe.timeout)
        } catch {
            look = .failure(StoreObstacle(detail: error.detail, isForbidden: false))
        }
        let disks = Task { await DiskProbe.facts(configuration) }
        let roads = Task { await Self.roads(configuration, look) }
        let callbacks = Task { await Self.callbacks(configuration, look) }
        var facts = ServerFacts(
            now: SystemClock.now(), configurationPath: configuration.effective.path,
            certificates: certificates, store: store(configuration, look))
        facts.warnings = configuration.effective.warnings
        facts.isServed = ServeLock.isHeld(store: configuration.store.path)
        facts.disks = await disks.value
        facts.ports = ports
        facts.isClockKept = saker_kernel_clock_is_kept() != 0
        facts.clockMayGoBack = configuration.store.clockMayGoBack
        facts.roads = await roads.value
        facts.callbacks = await callbacks.value
        facts.access = try? look.get().access
        facts.enrolmentProblem = enrolmentProblem
        facts.fleet = try? look.get().fleet
        return facts
    }

    private static func enrolmentProblem(_ configuration: ServerConfiguration) -> String? {
        guard configuration.device.authority != nil else { return nil }
        // Another user than the server's may not read the key, which is as it must be.
        let isForbidden = configuration.device.authorityKey.map { access($0, R_OK) != 0 && errno == EACCES } ?? false
        guard !isForbidden else { return nil }
        do throws(ServerError) {
            _ = try DeviceCertificate.Authority(try DeviceAuthority.load(configuration))
            return nil
        } catch {
            return error.detail
        }
    }

    private static func store(
        _ configuration: ServerConfiguration, _ look: Result<StoreFileFacts, StoreObstacle>
    ) -> StoreFacts {
        switch look {
        case .success(let found): .read(StoreProbe.content(found, configuration.store))
        case .failure(let obstacle): .unreadable(obstacle.detail, isForbidden: obstacle.isForbidden)
        }
    }

    private static func roads(
        _ configuration: ServerConfiguration, _ look: Result<StoreFileFacts, StoreObstacle>
    ) async -> RoadFacts? {
        guard let roads = configuration.roads else { return nil }
        return await RoadProbe.facts(roads, around: (try? look.get())?.places ?? [])
    }

    private static func callbacks(
        _ configuration: ServerConfiguration, _ look: Result<StoreFileFacts, StoreObstacle>
    ) async -> [CallbackFacts]? {
        guard let waiting = try? look.get().callbacks else { return nil }
        let settings = configuration.callbacks
        let client = CallbackClient(
            names: CallbackNames(takesPrivate: settings.takesPrivateAddresses),
            authorities: CallbackAuthorities(file: settings.authorities), now: SystemClock.now,
            timeout: .seconds(6))
        return await CallbackProbe.facts(waiting, client)
    }
}

/// What keeps a server from its work.
package enum ServerSubject: String, CheckSubject {
    case configuration, server, certificates, disk, store, ports, clock, roads, tiles, callbacks, identity, vehicles

    package static let ending = "Nothing keeps this server from its work."

    func check(_ facts: ServerFacts) -> Finding {
        switch self {
        case .configuration: ConfigurationChecks.configuration(facts)
        case .server: ConfigurationChecks.server(facts)
        case .certificates: CertificateChecks.certificates(facts)
        case .disk: StorageChecks.disk(facts)
        case .store: StorageChecks.store(facts)
        case .ports: NetworkChecks.ports(facts)
        case .clock: ConfigurationChecks.clock(facts)
        case .roads: NetworkChecks.roads(facts)
        case .tiles: NetworkChecks.tiles(facts)
        case .callbacks: NetworkChecks.callbacks(facts)
        case .identity: IdentityChecks.identity(facts)
        case .vehicles: VehicleChecks.vehicles(facts)
        }
    }
}

extension CheckList<ServerSubject> {
    init(_ facts: ServerFacts) {
        self.init { $0.check(facts) }
    }
}
