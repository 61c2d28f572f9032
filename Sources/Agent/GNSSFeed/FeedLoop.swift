internal import Glibc
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
