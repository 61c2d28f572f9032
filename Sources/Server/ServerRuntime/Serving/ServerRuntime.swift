import CClock
import ConfigurationFile
import Enrolment
import Gateway
import Glibc
import Ingest
package import Logging
import MetricsText
import NIOCore
import NIOPosix
import RoadEngine
import RoadMatching
import ServerIdentity
import ServiceLifecycle
import StoreRecords
package import Systemd
import TimeZones
import TrackExport
import TrackModel
import TrackStore
import UnixSignals
import WebAPI
import WebListener

/// The running server: wires the rooms, owns their life, decides nothing.
package struct ServerRuntime: Sendable {
    let configuration: ServerConfiguration
    private let portsFile: String?
    private let notifier: Notifier
    private let threshold: LogThreshold
    let logger: Logger
    private let apiCounters = APICounters()
    private let durations = RequestDurations()
    private let webCounters = WebCounters()
    private let requestMemory: RequestMemoryLimit
    private let mergeRecord = MergeRecord()
    private let callbackCounters = CallbackCounters()
    private let exportCounters = ExportCounters()
    private let enrolmentCounters = EnrolmentCounters()
    private let callbacks: CallbackClient

    /// `portsFile` is written, as JSON, once every port listens.
    package init(
        configuration: ServerConfiguration, portsFile: String?, notifier: Notifier, threshold: LogThreshold,
        logger: Logger
    ) {
        self.configuration = configuration
        requestMemory = RequestMemoryLimit(
            RequestMemoryLimit.Limits(
                bytesWithoutKey: configuration.web.bytesWithoutKey, bytesWithKey: configuration.web.bytesWithKey))
        callbacks = CallbackClient(
            names: CallbackNames(takesPrivate: configuration.callbacks.takesPrivateAddresses),
            authorities: CallbackAuthorities(file: configuration.callbacks.authorities), now: SystemClock.now)
        self.portsFile = portsFile
        self.notifier = notifier
        self.threshold = threshold
        self.logger = logger
    }

    /// Serves until SIGTERM or SIGINT; then ends in the reverse order of the start within the configured time.
    package func run() async throws(ServerError) {
        // A peer that goes away while it is written to is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // A reload that comes before there is anything to reload is passed over.
        signal(SIGHUP, SIG_IGN)
        _ = try CallbackAuthorities(file: configuration.callbacks.authorities).tls()
        settleCertificate()
        let lock = try ServeLock(store: configuration.store.path)
        defer { withExtendedLifetime(lock) {} }
        notifier.status("opening the store")
        let startTimeout = StartTimeoutExtension(notifier: notifier, clock: SystemClock.monotonic)
        let store = try await StoreFactory.open(configuration.store, logger: logger, onCopying: startTimeout.progress)
            .store
        do {
            await sealSecrets(store)
            try await serve(store)
        } catch {
            try? await store.close()
            throw error
        }
        try? await store.close()
        logger.info("saker-server has stopped")
    }

    /// Signing keys that cannot be used concern the requests that are signed with them, nothing else.
    private func sealSecrets(_ store: any ServiceStore) async {
        let problem: String?
        do throws(TrackStoreError) {
            problem = try await store.sealSecrets()
        } catch {
            logger.error("the store cannot be asked for its signing keys", metadata: ["reason": "\(error.detail)"])
            return
        }
        guard let problem else { return }
        logger.error(
            "signing keys cannot be encrypted or decrypted as configured",
            metadata: ["reason": "\(problem)"])
    }

    private func serve(_ store: any TrackStore) async throws(ServerError) {
        // The one way of points into the store, for devices and for the Web API.
        let zones = SystemZones()
        // Before anything is stored by the clock of today.
        let newest = try await newestReceived(store)
        let time = TrustedTime(
            newest: newest, clock: SystemClock.now, monotonic: SystemClock.monotonic,
            isKept: { saker_kernel_clock_is_kept() != 0 })
        let ingest = IngestWriter(
            store: store, logger: logger,
            clock: configuration.store.clockMayGoBack ? ClockRule() : ClockRule(newest: newest),
            zones: { zones.offsets($0) })
        _ = ingest.clock.problem(at: SystemClock.now())
        notifier.status("reading the fences")
        await ingest.prepareFences()
        let (web, device) = (try webIdentity(), try deviceIdentity())
        let roads = RoadConnection(configuration.roads, logger: logger)
        let router = router(store, ingest, roads?.client)
        let gateway = gateway(store, ingest, router, device)
        let enrolment = EnrolmentIssuer(configuration)
        let group = serviceGroup(
            store, ingest: ingest, router: router, web: web, device: device, gateway: gateway, roads: roads?.client,
            enrolment: enrolment, time: time)
        warnOfMissingAuthority(enrolment)
        warnOfReadableKey()
        raiseFileLimit()
        logger.info("saker-server starts")
        let problem: ServerError?
        do {
            try await group.run()
            problem = nil
        } catch {
            problem = explain(error)
        }
        await roads?.close()
        if let problem { throw problem }
    }

    /// Everything short of serving: the files that a start needs. For `--check`.
    package func check() async throws(ServerError) {
        _ = try (webIdentity(), deviceIdentity())
        if let authority = configuration.tls.authority {
            _ = try CertificateMaker.details(of: try TextFile.read(authority))
        }
        let opened = try await StoreFactory.open(configuration.store, mayBeServed: true)
        try? await opened.store.close()
        if let problem = opened.protection.problem { throw ServerError(.configuration, problem) }
    }

    // MARK: Parts

    private func newestReceived(_ store: any TrackStore) async throws(ServerError) -> Timestamp? {
        do throws(TrackStoreError) {
            return try await store.lastReceived()
        } catch {
            throw ServerError(error)
        }
    }

    private var exportDirectory: ExportDirectory { ExportDirectory(configuration.exports.directory) }

    private func webIdentity() throws(ServerError) -> ServerIdentity {
        // A vehicle with an enrolment line knows only the key of the authority.
        let files = ServerIdentity.Files(
            certificateChain: configuration.tls.certificate, nextCertificateChain: configuration.tls.files.next,
            shownAuthorities: configuration.tls.authority, key: configuration.tls.key)
        return try identity(files, configuration.web.minimumTLS, WebListener.applicationProtocols)
    }

    private func deviceIdentity() throws(ServerError) -> ServerIdentity {
        let files = ServerIdentity.Files(
            certificateChain: configuration.tls.certificate, nextCertificateChain: configuration.tls.files.next,
            key: configuration.tls.key, clientAuthorities: configuration.device.clientAuthority,
            deviceAuthorities: configuration.device.authority)
        return try identity(files, configuration.device.minimumTLS, GatewayConfiguration.applicationProtocols)
    }

    private func identity(
        _ files: ServerIdentity.Files, _ minimumTLS: MinimumTLS, _ protocols: [String]
    ) throws(ServerError) -> ServerIdentity {
        do throws(ServerIdentityError) {
            return try ServerIdentity(files: files, minimumTLS: minimumTLS, applicationProtocols: protocols)
        } catch {
            throw ServerError(error)
        }
    }

    private func router(_ store: any TrackStore, _ ingest: IngestWriter, _ roads: RoadClient?) -> APIRouter {
        let api = configuration.api
        let check = CallbackCheck(callbacks)
        return APIRouter(
            store: store, ingest: ingest,
            options: WebAPIOptions(
                zoneMinutes: api.zoneMinutes, emptyListStatus: api.emptyListStatus == 0 ? .success : .notFound,
                strictMethods: api.strictMethods, futureTolerance: Int64(api.futureTolerance),
                maximumAge: api.maximumAge.map(Int64.init), maximumRawPoints: api.maximumRawPoints,
                maximumProcessedPoints: api.maximumProcessedPoints,
                dailyQuota: api.dailyQuota, concurrentRequests: api.concurrentRequests,
                fenceVertices: api.hasFenceVerticesAsText ? .text : .objects,
                unknownEntity: api.deletesUnknownEntities ? .success : .notFound,
                exportAge: Int64(configuration.exports.minimumAge),
                exportServiceBytes: Int64(configuration.exports.serviceLimit) << 20,
                exportBytes: Int64(configuration.exports.limit) << 20,
                exportsNeedKey: !configuration.exports.arePublic,
                hasExportTimesAsDigits: configuration.exports.hasTimesAsDigits,
                publicOrigin: configuration.enrolment.webAddress,
                roadAttribution: configuration.roads?.attribution ?? "",
                showsRoadGrades: configuration.roads?.showsGrades ?? true,
                analysis: configuration.analysis.options),
            logger: logger, counters: apiCounters,
            checkCallback: { target, service in await check.problem(with: target, of: service) }, roads: roads,
            executors: { WorkThreads.shared.executor(for: $0) }, now: SystemClock.now)
    }

    private func gateway(
        _ store: any TrackStore, _ ingest: IngestWriter, _ router: APIRouter, _ identity: ServerIdentity
    ) -> GatewayServer {
        let device = configuration.device
        var settings = GatewayConfiguration(
            host: device.host, port: device.port, identity: identity)
        settings.limits.connections = device.connections
        settings.limits.connectionsPerAddress = device.connectionsPerAddress
        settings.deadlines.heartbeatInterval = numericCast(device.heartbeatInterval)
        settings.deadlines.idle = .seconds(3 * Int64(device.heartbeatInterval))
        let api = configuration.api
        settings.limits.pointLead = Int64(api.futureTolerance) * 1000
        settings.limits.customPointAge = api.maximumAge.map { Int64($0) * 1000 }
        let policy = configuration.gateway.callPolicy
        settings.limits.devicePolicy = policy
        return GatewayServer(
            configuration: settings, store: store, ingest: ingest, logger: logger,
            now: SystemClock.now,
            callHandler: { service, entity, path, parameters in
                let answer = await router.call(
                    service: service, entity: entity, path: path, parameters: parameters, policy: policy)
                return (Int32(clamping: answer.status), answer.json)
            })
    }

    /// In start order; stopped in reverse: first no new requests, then the devices, then the writer that both submit
    /// to, then the upkeep.
    private func serviceGroup(
        _ store: any TrackStore, ingest: IngestWriter, router: APIRouter, web identity: ServerIdentity,
        device: ServerIdentity, gateway: GatewayServer, roads: RoadClient?, enrolment: EnrolmentIssuer,
        time: TrustedTime
    ) -> ServiceGroup {
        let web = configuration.web
        var expected: Set<BoundPorts.Name> = [.device]
        if web.http != nil { expected.insert(.http) }
        if web.https != nil { expected.insert(.https) }
        if configuration.metrics != nil { expected.insert(.metrics) }
        let ports = BoundPorts(expected: expected)
        let files = [
            configuration.tls.certificate, configuration.tls.files.next, configuration.tls.key,
            configuration.device.clientAuthority,
        ]
        let certificates = ServedCertificates(
            files: files.compactMap { $0 } + EnrolmentIssuer.files(configuration), logger: logger
        ) {
            enrolment.reload()
            try device.reload()
            try identity.reload()
        }
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        /// `name`: what the journal calls the service when it ends unexpectedly.
        func add(_ name: String, _ service: any Service) {
            services.append(.init(service: service, serviceName: name))
        }
        add("certificate check", CertificateExpiryCheck(certificateFile: configuration.tls.certificate, logger: logger))
        add("certificate renewal", CertificateRenewing(configuration: configuration, time: time, logger: logger))
        add("certificate reload", CertificateFollowing(certificates: certificates))
        add(
            "reload",
            Reloading(
                configuration: configuration, certificates: certificates, threshold: threshold, notifier: notifier,
                logger: logger))
        if let interval = configuration.store.mergeInterval {
            add(
                "merging of chunks",
                Merging(
                    store: store, interval: .seconds(interval), now: SystemClock.now, logger: logger,
                    record: mergeRecord))
        }
        add("heap trimming", HeapTrimming())
        add(
            "retention of points",
            PointRetention(
                store: store, standardDays: configuration.store.retentionDays, time: time, logger: logger))
        add("deletion of services", ServiceRemoving(store: store, logger: logger))
        add("cleanup of copies", CopyCleanup(store: configuration.store, time: time, logger: logger))
        add("cleanup of pushes", PushCleanup(store: store, now: SystemClock.now, logger: logger))
        add(
            "alarm callbacks",
            CallbackSending(
                store: store, client: callbacks, counters: callbackCounters, logger: logger, now: SystemClock.now))
        add(
            "exports",
            Exporting(
                store: store, directory: exportDirectory, record: exportCounters, logger: logger,
                now: SystemClock.now))
        add("frequent routes", RouteComputing(store: store, router: router, logger: logger))
        if let timeout = notifier.watchdogTimeout {
            add(
                "watchdog",
                Watchdog(store: store, notifier: notifier, timeout: timeout, logger: logger) {
                    "\(gateway.sessionCount) agents logged in"
                })
        }
        add("writer of points", IngestService(ingest: ingest))
        add("device listener", GatewayService(gateway: gateway, ports: ports))
        let enrolments = EnrolmentService(
            store: store, place: enrolment, counters: enrolmentCounters, logger: logger, now: SystemClock.now,
            clock: SystemClock.monotonic)
        add("enrolment log", EnrolmentLines(enrolments: enrolments))
        if let https = web.https { add("HTTPS listener", listener(.https, https, router, identity, enrolments, ports)) }
        if let http = web.http { add("HTTP listener", listener(.http, http, router, nil, enrolments, ports)) }
        if let address = configuration.metrics {
            let figures = ServerFigures(
                configuration, store: store, ingest: ingest, gateway: gateway, api: apiCounters, durations: durations,
                web: webCounters, requestMemory: requestMemory, merging: mergeRecord, callbacks: callbackCounters,
                exports: exportCounters, enrolment: enrolmentCounters, roads: roads)
            add(
                "metrics listener",
                MetricsService(
                    address: address, figures: figures, logger: logger, onBound: { ports.note(.metrics, $0) },
                    onObstacle: { ports.doWithout(.metrics) }))
        }
        add("readiness", Readiness(ports: ports, portsFile: portsFile, notifier: notifier, logger: logger))
        var settings = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quietLogger)
        settings.maximumGracefulShutdownDuration = .seconds(configuration.shutdownLimit)
        return ServiceGroup(configuration: settings)
    }

    private func listener(
        _ name: BoundPorts.Name, _ place: ServerConfiguration.Web.Listener, _ router: APIRouter,
        _ identity: ServerIdentity?, _ enrolments: EnrolmentService, _ ports: BoundPorts
    ) -> WebListener {
        let (web, exports) = (configuration.web, exportDirectory)
        return WebListener(
            router: router, files: { exports.file($0) }, host: place.host, port: place.port, identity: identity,
            enrolments: enrolments,
            limits: WebListener.Limits(
                timeout: Int64(web.timeout), maximumConnections: web.connections,
                connectionsPerAddress: web.connectionsPerAddress, maximumHeaderBytes: web.headerBytes),
            memory: requestMemory, counters: webCounters, durations: durations,
            group: MultiThreadedEventLoopGroup.singleton, logger: logger, onBound: { ports.note(name, $0) })
    }

    /// The services' comings and goings are our own affair.
    private var quietLogger: Logger {
        var quiet = logger
        quiet.logLevel = .warning
        return quiet
    }

    private func explain(_ error: any Error) -> ServerError {
        switch error {
        case let error as ServerError: error
        case let error as GatewayError: ServerError(.address, error.detail)
        case let error as MetricsListenerError: ServerError(.address, error.description)
        case let error as WebListenerError: ServerError(.address, error.detail)
        default: ServerError(.stopped, "the server stopped before its time: \(error)")
        }
    }
}
