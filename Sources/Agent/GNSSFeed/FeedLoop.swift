internal import Glibc
internal import Synchronization
internal import TrackModel

/// The feed's thread: waits, reads, gives events to the machine, and does the machine's actions.
struct FeedLoop: ~Copyable {
    private let configuration: FeedConfiguration
    private let signal: WakeSignal
    private let shared: SharedCounters
    private let deliver: @Sendable (FeedEvent) -> Void
    private let resolver: Resolver
    private let decoder: MessageDecoder
    private var machine: FeedMachine
    private var buffer = LineBuffer()
    private var budget = ReadBudget()
    private var socket: GPSDSocket?
    private var mustConnect = false

    init(
        configuration: FeedConfiguration, signal: WakeSignal, shared: SharedCounters,
        deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) {
        self.configuration = configuration
        self.signal = signal
        self.shared = shared
        self.deliver = deliver
        resolver = Resolver(host: configuration.host, port: configuration.port, signal: signal)
        decoder = try MessageDecoder()
        machine = FeedMachine(configuration: configuration)
    }

    /// Returns after `stop`.
    mutating func run() {
        perform(machine.start())
        while !signal.isStopped {
            if mustConnect {
                mustConnect = false
                connect()
                continue
            }
            let now = monotonicNow()
            let pause = socket == nil ? 0 : budget.wait(at: now)
            var deadline = machine.deadline
            if pause > 0 { deadline = min(deadline ?? now + pause, now + pause) }
            let reading = pause > 0 ? nil : socket?.descriptor
            let isReadable = wait(for: reading, POLLIN, until: deadline)
            if signal.isStopped { break }
            if signal.takeWake() { perform(machine.woken()) }
            if isReadable { read() }
            perform(machine.timePassed(roll: roll, at: monotonicNow()))
        }
        perform(machine.stop())
    }

    private var roll: Double { Double.random(in: 0..<1) }

    private mutating func perform(_ actions: [FeedMachine.Action]) {
        for action in actions {
            switch action {
            case .connect: mustConnect = true
            case .close:
                socket = nil
                buffer.reset()
            case .send(let command):
                // If sending fails, the connection turns out to be lost, or the answer does not come.
                _ = socket?.send(command)
            // The feed itself tells its owner of the end, after this loop's last event.
            case .deliver(.state(.stopped)): break
            case .deliver(let event): deliver(event)
            }
        }
        if !actions.isEmpty { shared.publish(machine.counters) }
    }

    private mutating func read() {
        guard let (received, count) = socket?.receive(into: &buffer) else { return }
        budget.spend(lines: 0, bytes: count)
        if case .ended(let reason) = received {
            perform(machine.failed(.unreachable(reason), roll: roll, at: monotonicNow()))
            return
        }
        // Takes every whole line, so that no line waits for the next packet.
        while socket != nil, let line = buffer.next() {
            budget.spend(lines: 1, bytes: 0)
            let now = monotonicNow()
            if case .complete(let range) = line, let message = decoder.decode(range, in: &buffer) {
                perform(machine.received(message, roll: roll, at: now))
            } else {
                perform(machine.rejected(roll: roll, at: now))
            }
        }
    }

    private mutating func connect() {
        let limit = monotonicNow() + configuration.timing.connect
        let place = "\(configuration.host):\(configuration.port)"
        guard let outcome = resolve(until: limit) else {
            if signal.isStopped { return }
            let reason = "looking up \(configuration.host) took too long"
            perform(machine.failed(.unreachable(reason), roll: roll, at: monotonicNow()))
            return
        }
        var failure = FeedMachine.Failure.unreachable("\(configuration.host) has no address")
        switch outcome {
        case .failure(let reason):
            failure = .unreachable("cannot look up \(configuration.host): \(reason)")
        case .addresses(let addresses):
            for (index, address) in addresses.enumerated() {
                // The remaining time is shared by the addresses that were not tried yet, so that one dead address does
                // not use it all.
                let now = monotonicNow()
                let share = now + max(limit - now, 0) / Int64(addresses.count - index)
                let number = connect(to: address, until: share)
                if signal.isStopped { return }
                if number == 0 {
                    perform(machine.connected(at: monotonicNow()))
                    return
                }
                let cause = reason(number).lowercased()
                failure =
                    number == EACCES || number == EPERM
                    ? .permissionDenied("the system forbids the connection to gpsd at \(place) (\(cause))")
                    : .unreachable("gpsd does not answer at \(place) (\(cause))")
            }
        }
        perform(machine.failed(failure, roll: roll, at: monotonicNow()))
    }

    private func resolve(until limit: MonotonicTime) -> Resolver.Outcome? {
        while !signal.isStopped {
            if let outcome = resolver.ask() { return outcome }
            if monotonicNow() >= limit { return nil }
            _ = wait(for: nil, 0, until: limit)
            _ = signal.takeWake()
        }
        return nil
    }

    /// Returns 0 and keeps the socket when connected, otherwise returns an error number.
    private mutating func connect(to address: SocketAddress, until limit: MonotonicTime) -> CInt {
        do throws(ErrorNumber) {
            let attempt = try GPSDSocket.connecting(to: address)
            while !signal.isStopped {
                if wait(for: attempt.descriptor, POLLOUT, until: limit) {
                    let outcome = attempt.connectOutcome
                    if outcome == 0 {
                        buffer.reset()
                        socket = consume attempt
                    }
                    return outcome
                }
                _ = signal.takeWake()
                if monotonicNow() >= limit { return ETIMEDOUT }
            }
            return ECANCELED
        } catch {
            return error.value
        }
    }

    /// Waits for the descriptor, the signal or the time, whichever comes first. True when the descriptor is ready (or
    /// broken).
    private func wait(for descriptor: CInt?, _ events: Int32, until limit: MonotonicTime?) -> Bool {
        var timeout: CInt = -1
        if let limit {
            let now = monotonicNow()
            timeout = limit > now ? CInt(min(limit - now, 3_600_000)) : 0
        }
        var entries = [
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
            // poll ignores a negative descriptor.
            pollfd(fd: descriptor ?? -1, events: Int16(events), revents: 0),
        ]
        let count = unsafe poll(&entries, nfds_t(entries.count), timeout)
        return count > 0 && entries[1].revents != 0
    }
}

/// Lets any thread interrupt the feed's thread while it waits in poll. It is a pipe that holds at most a few bytes.
final class WakeSignal: Sendable {
    /// Readable while a request waits.
    let descriptor: CInt
    private let writeEnd: CInt
    private let stopRequested = Atomic<Bool>(false)
    private let wakeRequested = Atomic<Bool>(false)

    init() throws(GNSSFeedError) {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw GNSSFeedError(.resources, "pipe: \(reason(errno))")
        }
        (descriptor, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    var isStopped: Bool { stopRequested.load(ordering: .acquiring) }

    func stop() {
        stopRequested.store(true, ordering: .releasing)
        nudge()
    }

    func wake() {
        wakeRequested.store(true, ordering: .releasing)
        nudge()
    }

    /// Wakes the feed's thread because something that it waits for has happened.
    func nudge() {
        var byte: UInt8 = 0
        // A full pipe is readable too.
        _ = unsafe write(writeEnd, &byte, 1)
    }

    /// Makes the descriptor unreadable again. True once after each `wake`.
    func takeWake() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &bytes, bytes.count) == bytes.count {}
        return wakeRequested.exchange(false, ordering: .acquiringAndReleasing)
    }
}

/// The kernel's text for an error number.
func reason(_ number: CInt) -> String {
    unsafe String(cString: strerror(number))
}

/// Starts a detached thread that runs `body` and ends. The thread blocks all signals, because the program handles them
/// elsewhere.
func startThread(_ body: @escaping @Sendable () -> Void) throws(GNSSFeedError) {
    let context = unsafe Unmanaged.passRetained(ThreadBody(run: body))
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    // Name resolution needs the deepest stack here, about 100 KiB.
    unsafe pthread_attr_setstacksize(&attributes, 512 * 1024)
    var thread = pthread_t()
    let result = unsafe pthread_create(
        &thread, &attributes,
        { argument in
            guard let argument = unsafe argument else { return nil }
            // The starter retained the body for this thread alone.
            let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
            var signals = sigset_t()
            unsafe sigfillset(&signals)
            unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
            body.run()
            return nil
        }, context.toOpaque())
    guard result == 0 else {
        unsafe context.release()
        throw GNSSFeedError(.resources, "cannot start a thread: \(reason(result))")
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

/// Reads a clock that only goes forward, whatever happens to the system's time.
func monotonicNow() -> MonotonicTime {
    let (seconds, attoseconds) = clockStart.duration(to: SuspendingClock.now).components
    return MonotonicTime(milliseconds: max(0, seconds) * 1000 + max(0, attoseconds) / 1_000_000_000_000_000)
}

private let clockStart = SuspendingClock.now
