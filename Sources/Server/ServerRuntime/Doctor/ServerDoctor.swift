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
            return Self.checks(await Self.facts(try ServerConfiguration.load(path: path), beforeStore))
        } catch {
            let remedy =
                "Correct it; saker-server serve --print-config shows what is in force. A new server: saker-server init"
            let because = "the configuration was not read"
            return CheckList(
                [.failed(.configuration, error.detail, remedy)]
                    + ServerSubject.allCases.dropFirst().map { .notChecked($0, because) })
        }
    }

    static func checks(_ facts: ServerFacts) -> CheckList<ServerSubject> {
        CheckList([
            ConfigurationChecks.configuration(facts), ConfigurationChecks.server(facts),
            CertificateChecks.certificates(facts), StorageChecks.disk(facts), StorageChecks.store(facts),
            NetworkChecks.ports(facts), ConfigurationChecks.clock(facts), NetworkChecks.roads(facts),
            NetworkChecks.tiles(facts), NetworkChecks.callbacks(facts), IdentityChecks.identity(facts),
            VehicleChecks.vehicles(facts),
        ])
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
            look = await StoreFactory.look(at: configuration.store, patience: StoreProbe.patience)
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
            patience: .seconds(6))
        return await CallbackProbe.facts(waiting, client)
    }
}

/// What `saker-server doctor` looks at.
package enum ServerSubject: String, CheckSubject {
    case configuration, server, certificates, disk, store, ports, clock, roads, tiles, callbacks, identity, vehicles
}

typealias ServerCheck = Finding<ServerSubject>
