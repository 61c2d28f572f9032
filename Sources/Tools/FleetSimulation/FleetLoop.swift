internal import NIOCore
internal import NIOPosix
internal import SecureLink
internal import TrackModel
internal import TrackWire

/// The counts of one event loop.
struct FleetCounts: Sendable {
    var logins = 0
    var batches = 0
    var points = 0
    var heartbeats = 0
    var pushes = 0
    var bytesSent: UInt64 = 0
    var bytesReceived: UInt64 = 0
    /// From the start of a connection to its Welcome.
    var login = LatencyHistogram()
    /// From a batch's due time to the acknowledgement of its last point.
    var acknowledgement = LatencyHistogram()
    /// How late the generator itself sent live batches.
    var lag = LatencyHistogram()
    var lastLogin: NIODeadline?
    var lastAcknowledgement: NIODeadline?
}

/// The vehicles of one event loop. The loop opens their connections at a steady rate, then lets them send. Everything
/// happens on this loop.
final class FleetLoop {
    let plan: FleetPlan
    let batches: Int
    let heartbeat: ByteBuffer
    let goodbye: ByteBuffer
    var counts = FleetCounts()

    private let eventLoop: any EventLoop
    private let tls: TLSContext
    private let drives: [DriveFrames]
    private let numbers: [Int]
    /// Makes the stream ids of this run different from those of other runs.
    private let run: UInt64
    private let connected: EventLoopPromise<Void>
    private let finished: EventLoopPromise<Void>
    private var vehicles: [FleetVehicle] = []
    private var channels: [any Channel] = []
    private var opening = 0
    private var done = 0
    private var hasFailed = false
    private var ticks: [RepeatedTask] = []
    private var began = NIODeadline.now()
    /// Live batches that have become due so far.
    private var sent = 0
    private var heartbeatEvery = TimeAmount.seconds(30)
    private var nextHeartbeat = 0
    private var lastProgress = NIODeadline.now()
    /// The limit for a connection that opens and then makes no progress. It is longer than any limit of the server.
    private static let progressTimeout = TimeAmount.seconds(45)

    init(
        plan: FleetPlan, numbers: [Int], drives: [DriveFrames], tls: TLSContext, run: UInt64,
        eventLoop: any EventLoop, connected: EventLoopPromise<Void>, finished: EventLoopPromise<Void>
    ) {
        self.plan = plan
        self.numbers = numbers
        self.drives = drives
        self.tls = tls
        self.run = run
        self.eventLoop = eventLoop
        self.connected = connected
        self.finished = finished
        batches = plan.batchesPerVehicle
        heartbeat = ByteBuffer(bytes: WireCodec.encode(ClientFrame(.heartbeat(Heartbeat()))))
        goodbye = ByteBuffer(bytes: WireCodec.encode(ClientFrame(.goodbye(Goodbye()))))
        vehicles.reserveCapacity(numbers.count)
    }

    func frame(_ index: Int, of vehicle: FleetVehicle) -> DriveFrames.Frame {
        drives[vehicle.number % drives.count].frames[index]
    }

    func hello(of vehicle: FleetVehicle) -> ByteBuffer {
        var hello = Hello()
        hello.protocol = WireLimits.protocolVersion
        hello.serviceID = plan.service
        hello.ak = plan.accessKey
        hello.entity = plan.entity(of: vehicle.number)
        hello.agentVersion = "saker-sim"
        hello.streamID = StreamID(high: run, low: UInt64(vehicle.number) + 1)
        hello.firstSequence = 1
        hello.nextSequence = UInt64(plan.pointsPerVehicle) + 1
        return ByteBuffer(bytes: WireCodec.encode(ClientFrame(.hello(hello))))
    }

    // MARK: Connecting

    func connect() {
        began = .now()
        every(.milliseconds(5)) { $0.openMore() }
        every(.milliseconds(100)) { $0.sendHeartbeats() }
    }

    private func openMore() {
        let now = NIODeadline.now()
        if opening == 0 { lastProgress = now }
        if now - lastProgress > Self.progressTimeout {
            fail(FleetError(.timeout, "\(opening) connections are opening and none has got further for a while"))
        }
        let passed = Double((now - began).nanoseconds) / 1e9
        let allowed = Int(passed * plan.rate / Double(plan.threads)) + 1
        while !hasFailed, vehicles.count < min(allowed, numbers.count), opening < max(1, plan.opening / plan.threads) {
            open(FleetVehicle(number: numbers[vehicles.count], loop: self))
        }
    }

    private func open(_ vehicle: FleetVehicle) {
        vehicles.append(vehicle)
        opening += 1
        let (bound, tls, host) = (NIOLoopBound((vehicle, self), eventLoop: eventLoop), tls, plan.host)
        do {
            var bootstrap = ClientBootstrap(group: eventLoop)
                .connectTimeout(.seconds(10))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
                .channelOption(.maxMessagesPerRead, value: 1)
                .channelOption(.autoRead, value: false)
            if !plan.sources.isEmpty {
                let source = plan.sources[vehicle.number % plan.sources.count]
                bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0))
            }
            bootstrap.connect(host: host, port: plan.port).flatMap { channel in
                bound.value.1.channels.append(channel)
                return SecureLink.secure(channel, host: host, context: tls) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(bound.value.0)
                    }
                }
            }.whenFailure { error in
                bound.value.1.fail(FleetError(.connection, "cannot connect: \(error)"))
            }
        } catch {
            fail(FleetError(.plan, "cannot connect from the given address: \(error)"))
        }
    }

    /// A vehicle has logged in.
    func opened(heartbeatInterval seconds: UInt32, took: TimeAmount) {
        opening -= 1
        counts.logins += 1
        counts.login.add(took.microseconds)
        lastProgress = .now()
        counts.lastLogin = lastProgress
        heartbeatEvery = .milliseconds(max(1000, Int64(seconds) * 500))
        if counts.logins == numbers.count { connected.succeed() }
    }

    // MARK: Sending

    /// Begins the load. Every vehicle is logged in.
    func start(at time: NIODeadline) {
        began = time
        switch plan.mode {
        case .idle:
            eventLoop.assumeIsolated().scheduleTask(deadline: time + plan.length) { self.finish() }
        case .backlog:
            for vehicle in vehicles { vehicle.pump() }
            eventLoop.assumeIsolated().scheduleTask(deadline: time + plan.length) { self.tookTooLong() }
        case .live:
            every(.milliseconds(2)) { $0.sendDueBatches() }
            eventLoop.assumeIsolated().scheduleTask(deadline: time + plan.length + .seconds(30)) { self.tookTooLong() }
        }
    }

    private func sendDueBatches() {
        let now = NIODeadline.now()
        let step = plan.pack * 1e9 / Double(vehicles.count)
        while sent < vehicles.count * batches {
            let due = began + .nanoseconds(Int64(Double(sent) * step))
            guard due <= now, !hasFailed else { return }
            counts.lag.add((now - due).microseconds)
            vehicles[sent % vehicles.count].batchIsDue(at: due)
            sent += 1
        }
    }

    private func sendHeartbeats() {
        guard !vehicles.isEmpty else { return }
        // The loop looks at every vehicle four times in an interval.
        let share = vehicles.count * 400 / Int(max(400, heartbeatEvery.nanoseconds / 1_000_000)) + 1
        let now = NIODeadline.now()
        for _ in 0..<min(share, vehicles.count) {
            nextHeartbeat = (nextHeartbeat + 1) % vehicles.count
            vehicles[nextHeartbeat].heartbeat(ifSilentFor: heartbeatEvery, now: now)
        }
    }

    func acknowledged(points: Int, after time: TimeAmount) {
        counts.batches += 1
        counts.points += points
        counts.acknowledgement.add(time.microseconds)
    }

    /// All batches of one vehicle are acknowledged.
    func vehicleIsDone() {
        done += 1
        if done == vehicles.count {
            counts.lastAcknowledgement = .now()
            finish()
        }
    }

    // MARK: The end

    private func finish() {
        guard !hasFailed else { return }
        finished.succeed()
    }

    private func tookTooLong() {
        guard done < vehicles.count else { return }
        fail(
            FleetError(
                .timeout,
                "\(vehicles.count - done) of \(vehicles.count) vehicles still wait for acknowledgements after "
                    + "\(plan.duration) s"))
    }

    func fail(_ error: FleetError) {
        guard !hasFailed else { return }
        hasFailed = true
        connected.fail(error)
        finished.fail(error)
    }

    /// Sends goodbye on all connections and closes them.
    func close() -> EventLoopFuture<Void> {
        hasFailed = true
        for tick in ticks { tick.cancel() }
        for vehicle in vehicles { vehicle.goodbye() }
        vehicles = []
        connected.fail(FleetError(.connection, "the fleet was ended"))
        finished.fail(FleetError(.connection, "the fleet was ended"))
        return .andAllComplete(channels.map(\.closeFuture), on: eventLoop)
    }

    private func every(_ interval: TimeAmount, _ action: @escaping @Sendable (FleetLoop) -> Void) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        ticks.append(
            eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { _ in action(loop.value) })
    }
}

extension FleetPlan {
    fileprivate var length: TimeAmount { .nanoseconds(Int64(duration * 1e9)) }
}

extension TimeAmount {
    fileprivate var microseconds: UInt64 { UInt64(max(0, nanoseconds / 1000)) }
}
