import AgentControl
import AgentLogic
import AlarmLog
import ConfigurationFile
import DiskRing
import FenceDelivery
import Foundation
import GNSSFeed
import Geodesy
import Geofencing
import LocalFences
import Logging
import NIOCore
import NIOEmbedded
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// A whole agent in virtual time on a simulated disk, and the test plays its server, frame by frame.
final class ServedAgent {
    private final class Connector: LinkConnector {
        var channel: EmbeddedChannel?
        var isReachable = true
        var clientCertificateEnd: Int64?
        private(set) var deliver: (CertificateReload) -> Void = { _ in }

        func watch(on loop: any EventLoop, log: Logger, deliver: @escaping (CertificateReload) -> Void) {
            self.deliver = deliver
        }

        func connect(
            to server: AgentConfiguration.Server, verificationTime: Int64?, on loop: any EventLoop,
            initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> EventLoopFuture<any Channel> {
            guard isReachable, let embedded = loop as? EmbeddedEventLoop else {
                return loop.makeFailedFuture(NoServer.Unreachable())
            }
            let channel = EmbeddedChannel(loop: embedded)
            self.channel = channel
            return initializer(channel).map { channel }
        }

        func reload(_ server: AgentConfiguration.Server, on loop: any EventLoop) -> EventLoopFuture<[String]> {
            loop.makeSucceededFuture([])
        }
    }

    private final class Disk<Subject: AnyObject> {
        let subject: Subject
        init(_ subject: Subject) { self.subject = subject }

        func perform<Result: Sendable>(
            on loop: any EventLoop, _ operation: @escaping @Sendable (Subject) -> Result
        ) -> EventLoopFuture<Result>? {
            loop.makeSucceededFuture(operation(subject))
        }
    }

    private final class Journal: AlarmExecutor {
        let disk: Disk<AlarmJournal>
        init(_ journal: AlarmJournal) { disk = Disk(journal) }
        func perform<Result: Sendable>(
            on loop: any EventLoop, _ operation: @escaping @Sendable (AlarmJournal) -> Result
        ) -> EventLoopFuture<Result>? { disk.perform(on: loop, operation) }
    }

    private final class Ring: CacheExecutor {
        let disk: Disk<DiskRing>
        init(_ cache: DiskRing) { disk = Disk(cache) }
        func perform<Result: Sendable>(
            on loop: any EventLoop, _ operation: @escaping @Sendable (DiskRing) -> Result
        ) -> EventLoopFuture<Result>? { disk.perform(on: loop, operation) }
        func shutDown(on loop: any EventLoop, now: MonotonicTime) -> EventLoopFuture<Void> {
            loop.makeSucceededVoidFuture()
        }
    }

    private final class FenceFileWriter: ServerFenceWriter, LocalFenceWriter, DurableStateStore {
        let file: ServerFenceFile
        init(_ file: ServerFenceFile) { self.file = file }
        func write(_ content: ServerFenceSet, on loop: any EventLoop) -> EventLoopFuture<String?>? {
            loop.makeSucceededFuture(file.write(content.encoded))
        }
        func write(_ fences: KeptFences, nextFence: Int32, on loop: any EventLoop) -> EventLoopFuture<String?>? {
            loop.makeSucceededFuture(nil)
        }
        func read(on loop: any EventLoop) -> EventLoopFuture<LoadedLocalFences>? {
            loop.makeSucceededFuture(LoadedLocalFences())
        }
        func zones(_ names: [String], on loop: any EventLoop) -> EventLoopFuture<[String: ZoneOffsets]>? {
            loop.makeSucceededFuture([:])
        }
        func write(_ state: DurableState, on loop: any EventLoop) -> EventLoopFuture<String?>? {
            loop.makeSucceededFuture(nil)
        }
    }

    let loop = EmbeddedEventLoop()
    let log = EventRecorder()
    let disk: DiskSimulation
    let journal: AlarmJournal
    let ring: DiskRing
    let agent: Agent
    private let feed = ScriptedFeed()
    private let connector = Connector()
    private var decoder = FrameDecoder()
    private(set) var told: [AlarmReport] = []

    /// Another certificate is in its file, and the agent has read it.
    func replaceCertificate(end: Int64) {
        connector.clientCertificateEnd = end
        connector.deliver(.replaced(warnings: []))
    }

    init(
        _ disk: DiskSimulation = DiskSimulation(seed: 1, directories: ["/", "/state"]), entity: String = "van",
        service: Int = 7, journalLimit: Int = AlarmJournal.Options.defaultLimit,
        longWork: any LongWorkExecutor = ImmediateExecutor()
    ) throws {
        self.disk = disk
        let text = """
            [server]
            host = "server.example"
            [service]
            id = \(service)
            ak = "0123456789abcdefghjkmnpqrstvwxyz"
            entity = "\(entity)"
            [gnss]
            system_clock = false
            [cache]
            directory = "/cache"
            [state]
            directory = "/state"
            """
        let configuration = try AgentConfiguration.read(ConfigurationReader(text: text, path: "/etc/agent.toml"))
        let log = Logger(label: "agent") { [recorder = self.log] _ in recorder }
        journal = AlarmJournal(
            directory: "/state", options: .init(limit: journalLimit), fileSystem: disk, now: 0)
        ring = try DiskRing(directory: "/cache", fileSystem: disk, now: 0)
        let (journal, ring, feed, connector) = (journal, ring, feed, connector)
        let file = ServerFenceFile(directory: "/state", files: disk)
        let opened = try OpenedAgent(configuration, remembered: .absent, log: log) { _ in
            let writer = FenceFileWriter(file)
            let dependencies = AgentDependencies(
                clock: KernelClock(), connector: connector, feeds: feed, disk: Ring(ring), stateStore: writer, seed: 1,
                alarms: Journal(journal),
                fences: LocalFenceStore(writer: writer, found: LoadedLocalFences(), states: journal.fenceStates),
                serverFences: ServerFenceStore(
                    writer: writer, found: LoadedServerFences(file), states: journal.fenceStates),
                longWork: longWork)
            return (dependencies, CacheSnapshot(ring))
        }
        agent = Agent(opened, log: log, loop: loop)
        agent.onChange = { [unowned self] change in
            if case .alarm(let report) = change { told.append(report) }
        }
        agent.start()
        _ = agent.startService(entity: nil)
        _ = agent.startGather(keepTrying: false)
        loop.run()
    }

    // MARK: The receiver

    /// So many metres north of 52 N 4 E, at a second; each fifth becomes a point.
    func fix(_ second: Int64, north metres: Double) throws {
        try report(
            GNSSReport(
                time: Timestamp(seconds: 1_780_000_000 + second), mode: 3, latitude: 52 + metres / 111_250,
                longitude: 4))
    }

    /// The receiver says that it has a fix, and then this; a second passes.
    func report(_ report: GNSSReport) throws {
        feed.say(.state(.fix))
        feed.say(.report(report))
        feed.say(.silence)
        try wait(seconds: 1)
    }

    /// From 300 m north to 300 m south, 10 m a second.
    func drive(from second: Int64 = 0) throws {
        for step in 0...60 as ClosedRange<Int64> { try fix(second + step, north: 300 - Double(step) * 10) }
    }

    func receiver(is state: FeedState) {
        feed.say(.state(state))
        loop.run()
    }

    // MARK: The server

    /// Of the Welcome.
    var fenceFormat: UInt32 = 1
    var healthInterval: UInt32 = 0
    var storedThrough: UInt64 = 0
    /// The answer to each login, instead of a Welcome.
    var refusal: Refused?
    /// Whether the server's store takes points.
    var isStoring = true
    private var received: [ClientFrame.OneOf_Message] = []
    private var served: EmbeddedChannel?
    private var hellos: [Hello] = []

    func send(_ message: ServerFrame.OneOf_Message) throws {
        try connector.channel?.writeInbound(ByteBuffer(bytes: WireCodec.encode(ServerFrame(message))))
        loop.run()
    }

    /// Answers what the agent has sent.
    private func serve() throws {
        guard let channel = connector.channel else { return }
        if channel !== served { (served, decoder) = (channel, FrameDecoder()) }
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { decoder.append(bytes.readableBytesView) }
        while let bytes = try decoder.next() {
            guard let message = try WireCodec.decodeClient(bytes).message else { continue }
            received.append(message)
            switch message {
            case .hello(let hello):
                if let refusal {
                    try send(.refused(refusal))
                    continue
                }
                hellos.append(hello)
                var welcome = Welcome()
                (welcome.fenceFormat, welcome.storedThrough) = (fenceFormat, storedThrough)
                welcome.serverTime = 1_780_000_000_000
                welcome.healthInterval = healthInterval
                try send(.welcome(welcome))
            case .upload(let upload) where isStoring:
                storedThrough = upload.firstSequence + UInt64(upload.count) - 1
                var ack = UploadAck()
                ack.storedThrough = storedThrough
                try send(.uploadAck(ack))
            case .heartbeat: try send(.heartbeat(Heartbeat()))
            default: break
            }
        }
    }

    func wait(seconds: Int) throws {
        for _ in 0..<seconds {
            loop.advanceTime(by: .seconds(1))
            try serve()
        }
    }

    /// What the agent has sent since the last question.
    func frames() throws -> [ClientFrame.OneOf_Message] {
        try serve()
        defer { received = [] }
        return received
    }

    var isReachable: Bool {
        get { connector.isReachable }
        set { connector.isReachable = newValue }
    }

    /// The connection ends. What the agent has sent and nobody has read is lost.
    func cut() {
        let channel = connector.channel
        connector.channel = nil
        // Not `finish`, which also cancels every timer of the loop: the agent would never log in again.
        channel?.close(promise: nil)
        loop.run()
    }

    /// The next login, which may take some minutes.
    func login() throws -> Hello? {
        for _ in 0..<700 where hellos.isEmpty { try wait(seconds: 1) }
        defer { hellos = [] }
        return hellos.last
    }
}

extension ServedAgent {
    /// A circle of 100 m around 52 N 4 E.
    static func fence(_ id: Int32 = 3) throws -> DeliveredFence {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 52, longitude: 4), radius: 100)))
        definition.name = "depot"
        definition.watch = .everyone
        return DeliveredFence(
            try Fence(id: id, definition, at: Timestamp(milliseconds: 0)), since: Timestamp(milliseconds: 0), of: "van")
    }

    /// The server sends all fences. `fences` nil: the circle. `reach`: metres around 52 N 4 E where they are complete; nil:
    /// everywhere.
    func deliver(_ version: UInt64, fences: [DeliveredFence]? = nil, reach: UInt32? = nil) throws {
        let center = try #require(Coordinate(latitude: 52, longitude: 4))
        let delivery = FenceDelivery(
            version: version, fences: try fences ?? [Self.fence()],
            reach: reach.map { .init(center: center, metres: $0) })
        for update in try delivery.updates() { try send(.fenceUpdate(update)) }
    }

    /// Of the journal.
    func alarms() throws -> [JournalAlarm] { try journal.alarms(AlarmQuery(), now: 0).alarms }

    /// The reports of alarms that the agent has sent since the last question for frames.
    func reports() throws -> [AlarmUpload] { try frames().compactMap(\.alarmUpload) }

    /// The server answers a report. `refused`: keys that the server will never take.
    func answer(_ report: AlarmUpload, refused keys: [Data] = []) throws {
        var answer = AlarmUploadAck()
        answer.id = report.id
        answer.refused = keys.map { key in
            var refused = RefusedAlarm()
            (refused.key, refused.reason) = (key, "no such fence")
            return refused
        }
        try send(.alarmUploadAck(answer))
    }
}

extension ClientFrame.OneOf_Message {
    var upload: Upload? { if case .upload(let upload) = self { upload } else { nil } }
    var alarmUpload: AlarmUpload? { if case .alarmUpload(let upload) = self { upload } else { nil } }
    var fenceRequest: FenceRequest? { if case .fenceRequest(let request) = self { request } else { nil } }
}
