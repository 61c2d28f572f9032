import ConfigurationFile
import Enrolment
import FoundationEssentials
import Gateway
import Ingest
import Logging
import MetricsText
import NIOCore
import NIOPosix
import RoadEngine
import RoadMatching
import ServiceLifecycle
import Synchronization
import Systemd
import TrackModel
import TrackStore
import WebAPI
import WebListener

/// Looks at everything that the server's metrics tell of. Looking at files may wait for the disk: not for an event loop.
final class ServerFigures: Sendable {
    private let configuration: ServerConfiguration
    private let store: any TrackStore
    private let fleet: FleetFigures
    private let ingest: IngestWriter
    private let gateway: GatewayServer
    private let api: APICounters
    private let durations: RequestDurations
    private let web: WebCounters
    private let requestMemory: RequestMemoryLimit
    private let merging: MergeRecord
    private let callbacks: CallbackCounters
    private let exports: ExportCounters
    private let enrolment: EnrolmentCounters
    private let roads: RoadClient?
    private let started: Double
    private let scrapes = Atomic<UInt64>(0)

    init(
        _ configuration: ServerConfiguration, store: any TrackStore, ingest: IngestWriter, gateway: GatewayServer,
        api: APICounters, durations: RequestDurations, web: WebCounters, requestMemory: RequestMemoryLimit,
        merging: MergeRecord, callbacks: CallbackCounters, exports: ExportCounters, enrolment: EnrolmentCounters,
        roads: RoadClient?,
        started: Double = Date().timeIntervalSince1970
    ) {
        self.configuration = configuration
        self.store = store
        fleet = FleetFigures(store)
        self.ingest = ingest
        self.gateway = gateway
        self.api = api
        self.durations = durations
        self.web = web
        self.requestMemory = requestMemory
        self.merging = merging
        self.callbacks = callbacks
        self.exports = exports
        self.enrolment = enrolment
        self.roads = roads
        self.started = started
    }

    /// Counts as one scrape.
    func page() async -> MetricsPage {
        scrapes.wrappingAdd(1, ordering: .relaxed)
        var page = MetricsPage()
        addGeneral(to: &page)
        addDevices(to: &page)
        addEnrolment(try? await store.deviceCensus(), to: &page)
        await addVehicles(to: &page)
        addIngest(to: &page)
        addAPI(to: &page)
        if let roads { addRoads(roads, to: &page) }
        addStore(try? await store.size(), to: &page)
        page.add(ServerMetrics.pushesLeftOut, await store.pushesLeftOut())
        return page
    }

    private func addGeneral(to page: inout MetricsPage) {
        let usage = ProcessUsage.read()
        page.add(ServerMetrics.info, 1, SakerVersion.text)
        page.add(ServerMetrics.start, started)
        page.add(ServerMetrics.cpu, usage.cpuSeconds)
        page.add(ServerMetrics.resident, ifKnown: usage.residentBytes)
        page.add(ServerMetrics.lostMessages, SystemLog.lostMessages)
        let certificate = try? CertificateMaker.details(of: TextFile.read(configuration.tls.certificate))
        page.add(ServerMetrics.certificateExpiry, ifKnown: certificate?.end.timeIntervalSince1970)
        page.add(ServerMetrics.scrapes, scrapes.load(ordering: .relaxed))
    }

    private func addDevices(to page: inout MetricsPage) {
        let counts = gateway.counts
        page.add(ServerMetrics.connections, gateway.connectionCount)
        page.add(ServerMetrics.connectionsLimit, configuration.device.connections)
        page.add(ServerMetrics.sessions, gateway.sessionCount)
        page.add(ServerMetrics.accepted, counts.accepted)
        page.add(ServerMetrics.turnedAway, counts.turnedAway)
        page.add(ServerMetrics.handshakes, counts.failedHandshakes)
        page.add(ServerMetrics.logins, counts.logins)
        page.add(ServerMetrics.surplusSessions, counts.surplusSessions)
        for reason in LoginRefusalReason.allCases {
            page.add(ServerMetrics.refusals, counts.refusals[reason] ?? 0, reason.rawValue)
        }
        page.add(ServerMetrics.violations, counts.violations)
        page.add(ServerMetrics.calls, gateway.callsAtWork)
        page.add(ServerMetrics.refusedHints, counts.refusedHints)
        page.add(ServerMetrics.sentPushes, counts.sentPushes)
        page.add(ServerMetrics.acknowledgedPushes, counts.acknowledgedPushes)
        page.add(ServerMetrics.givenUpPushes, counts.givenUpPushes)
        page.add(ServerMetrics.forgottenPushes, counts.forgottenPushOutcomes)
    }

    /// `census` nil: the store could not tell.
    private func addEnrolment(_ census: DeviceCensus?, to page: inout MetricsPage) {
        page.add(ServerMetrics.registeredDevices, ifKnown: census?.active, "approved")
        page.add(ServerMetrics.registeredDevices, ifKnown: census?.pending, "pending")
        page.add(ServerMetrics.registeredDevices, ifKnown: census?.revoked, "revoked")
        for (outcome, count) in enrolment.counts { page.add(ServerMetrics.claims, count, outcome.name) }
    }

    private func addVehicles(to page: inout MetricsPage) async {
        guard let (counts, well) = await fleet.counts(at: SystemClock.now()) else { return }
        for kind in VehicleTrouble.Kind.allCases { page.add(ServerMetrics.vehicles, counts[kind] ?? 0, kind.rawValue) }
        page.add(ServerMetrics.vehicles, well.told, "ok")
        page.add(ServerMetrics.vehicles, well.untold, "untold")
    }

    private func addIngest(to page: inout MetricsPage) {
        let (counts, device) = (ingest.counts, gateway.counts)
        page.add(ServerMetrics.points, counts.storedPoints)
        page.add(ServerMetrics.refusedPoints, device.refusedPoints)
        page.add(ServerMetrics.refusedAhead, device.refusedAhead)
        page.add(ServerMetrics.rescuedPoints, device.rescuedPoints)
        page.add(ServerMetrics.batches, counts.storedBatches)
        page.add(ServerMetrics.duplicates, counts.duplicateBatches)
        page.add(ServerMetrics.replacedBatches, counts.replacedBatches)
        page.add(ServerMetrics.staleBatches, counts.staleBatches)
        page.add(ServerMetrics.rewoundBatches, counts.rewoundBatches)
        page.add(ServerMetrics.failedBatches, counts.failedBatches)
        page.add(ServerMetrics.fenceAlarms, counts.alarms)
        page.add(ServerMetrics.untoldAlarms, counts.untoldAlarms)
        page.add(ServerMetrics.untoldMessages, counts.untoldMessages)
        page.add(ServerMetrics.latePoints, counts.latePoints)
        page.add(ServerMetrics.pointsAhead, counts.pointsAhead)
        page.add(ServerMetrics.unreadableFences, counts.unreadableFences)
        let called = callbacks.counts
        page.add(ServerMetrics.callbackRequests, called.taken, "taken")
        page.add(ServerMetrics.callbackRequests, called.failed, "failed")
        page.add(ServerMetrics.callbackAlarms, called.takenAlarms, "taken")
        page.add(ServerMetrics.callbackAlarms, called.givenUpAlarms, "given_up")
        let exported = exports.counts
        page.add(ServerMetrics.exports, exported.done, "done")
        page.add(ServerMetrics.exports, exported.failed, "failed")
        page.add(ServerMetrics.exportedPoints, Int(exported.points))
        page.add(ServerMetrics.ignoredAttributes, device.batchesWithIgnoredAttributes)
        let clock = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        page.add(ServerMetrics.clockWrong, ingest.clock.problem(at: clock) != nil)
        page.add(ServerMetrics.waiting, ingest.waitingBytes)
        page.add(ServerMetrics.commits, counts.commits)
        page.add(ServerMetrics.failedCommits, counts.failedCommits)
    }

    private func addAPI(to page: inout MetricsPage) {
        let answers = api.answers.sorted {
            ($0.key.way.rawValue, $0.key.call, $0.key.status) < ($1.key.way.rawValue, $1.key.call, $1.key.status)
        }
        for (answer, count) in answers {
            page.add(ServerMetrics.requests, count, answer.way.rawValue, answer.call, String(answer.status))
        }
        page.add(ServerMetrics.requestDurations, durations.histogram)
        page.add(ServerMetrics.readingsWithHoles, api.readingsWithHoles)
        page.add(ServerMetrics.webConnections, web.open)
        for (reason, count) in web.ended { page.add(ServerMetrics.endedConnections, count, reason) }
        page.add(ServerMetrics.requestBytes, requestMemory.bytes)
    }

    private func addRoads(_ roads: RoadClient, to page: inout MetricsPage) {
        let counts = roads.counters.counts
        page.add(ServerMetrics.roadCalls, counts.calls[nil] ?? 0, "answered")
        // Two failures have one name.
        let failures = Dictionary(grouping: RoadFailure.allCases, by: \.name).sorted { $0.key < $1.key }
        for (name, failures) in failures {
            page.add(ServerMetrics.roadCalls, failures.reduce(0) { $0 + (counts.calls[$1] ?? 0) }, name)
        }
        page.add(ServerMetrics.roadCallDurations, counts.durations)
        page.add(ServerMetrics.roadsOpen, roads.isFallingBack)
        page.add(ServerMetrics.roadPoints, counts.onRoads, "matched")
        page.add(ServerMetrics.roadPoints, counts.offRoads, "unmatched")
        page.add(ServerMetrics.rememberedRoads, counts.remembered)
        page.add(ServerMetrics.roadMemory, roads.rememberedBytes)
    }

    /// `size` nil: the store could not tell.
    private func addStore(_ size: StoreSize?, to page: inout MetricsPage) {
        page.add(ServerMetrics.storeBytes, ifKnown: size?.bytes)
        page.add(ServerMetrics.storeLimit, ifKnown: configuration.store.maximumBytes)
        page.add(ServerMetrics.storeAvailable, ifKnown: size?.availableBytes)
        guard configuration.store.mergeInterval != nil else { return }
        let counts = merging.counts
        page.add(ServerMetrics.mergeRounds, counts.rounds)
        page.add(ServerMetrics.mergeFailures, counts.failedRounds)
        page.add(ServerMetrics.mergedChunks, counts.replaced)
        page.add(ServerMetrics.mergeSuccess, ifKnown: counts.lastSuccess)
        let (seconds, attoseconds) = counts.lastDuration.components
        page.add(ServerMetrics.mergeDuration, Double(seconds) + Double(attoseconds) / 1e18)
    }
}

/// How the vehicles of all services are, in numbers. Reads the store at most every 15 s, however often it is asked.
actor FleetFigures {
    typealias Counts = (troubles: [VehicleTrouble.Kind: Int], well: (told: Int, untold: Int))

    /// The store hears of vehicles no more often.
    private static let milliseconds: Int64 = 15_000

    private let store: any TrackStore
    private var known: (at: Timestamp, counts: Counts)?

    init(_ store: any TrackStore) { self.store = store }

    /// Nil: the store cannot tell.
    func counts(at now: Timestamp) async -> Counts? {
        if let known, (0..<Self.milliseconds).contains(now.milliseconds(since: known.at)) { return known.counts }
        do throws(TrackStoreError) {
            let fleet = FleetHealth(try await store.allHealth(in: nil), devices: try await devices(), at: now)
            known = (now, (fleet.counts, fleet.well))
        } catch {
            known = nil
        }
        return known?.counts
    }

    /// In one page: each page would sort all of them again.
    private func devices() async throws(TrackStoreError) -> [DeviceRecord] {
        try await store.devices(in: nil, page: Page(offset: 0, limit: .max)).devices
    }
}

/// How the rounds of merging went, for monitoring.
final class MergeRecord: Sendable {
    struct Counts: Hashable, Sendable {
        var rounds: UInt64 = 0
        var failedRounds: UInt64 = 0
        /// Chunks that became part of larger ones.
        var replaced: UInt64 = 0
        /// When the last round that saw everything ended, seconds since 1970; nil before the first.
        var lastSuccess: Double?
        var lastDuration = Duration.zero
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    /// `time`: seconds since 1970 when everything that was due is merged now; nil when it is not.
    func ended(at time: Double?, after duration: Duration, replaced: Int, hasFailed: Bool) {
        state.withLock { state in
            state.rounds &+= 1
            if hasFailed { state.failedRounds &+= 1 }
            state.replaced &+= UInt64(max(0, replaced))
            if let time { state.lastSuccess = time }
            state.lastDuration = duration
        }
    }
}

/// The metrics' own listener as a service. While something is in its way, the server serves without it and tries again.
struct MetricsService: Service {
    let address: MetricsAddress
    let figures: ServerFigures
    let logger: Logger
    /// Between two tries.
    var interval = Duration.seconds(5)
    let onBound: @Sendable (Int) -> Void
    /// The first try has failed.
    let onObstacle: @Sendable () -> Void

    func run() async throws {
        guard let listener = await listen() else { return }
        if !address.isLocal {
            logger.warning(
                "the metrics can be read by everyone who reaches their address",
                metadata: ["address": "\(address)"])
        }
        onBound(listener.port ?? 0)
        try? await gracefulShutdown()
        try? await listener.close().get()
    }

    /// Nil when the server stops first.
    private func listen() async -> MetricsListener? {
        let figures = figures
        var isTold = false
        while true {
            do {
                return try await MetricsListener.start(on: address, group: MultiThreadedEventLoopGroup.singleton) {
                    loop in
                    // The page looks at files: the event loop serves the devices meanwhile.
                    loop.makeFutureWithTask { await figures.page().text }
                }.get()
            } catch {
                if !isTold {
                    logger.error(
                        "the metrics cannot be listened for: the server serves without them, and tries again",
                        metadata: ["reason": "\(error)"])
                    onObstacle()
                }
                isTold = true
            }
            do {
                try await cancelWhenGracefulShutdown { [interval] in try await Task.sleep(for: interval) }
            } catch {
                return nil
            }
        }
    }
}
