import AgentLogic
import Glibc
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import AgentRuntime

/// The watches of the network and of certificates outlive a kernel that has no descriptor to give for a while.
@Suite(.timeLimit(.minutes(2))) struct KernelWatchTests {
    /// What the kernel answers, one call after the other: an error number, or a pipe whose other end the test has.
    private final class Kernel: Sendable {
        private struct State {
            var answers: [Int32]
            var writers: [Int32] = []
            var calls = 0
        }

        private let state: Mutex<State>

        /// `errors`: of the first calls; 0 is a pipe. Later calls get pipes.
        init(_ errors: [Int32]) { state = Mutex(State(answers: errors)) }

        deinit { closeAll() }

        func open() -> Int32 {
            state.withLock { state in
                state.calls += 1
                let error = state.answers.isEmpty ? 0 : state.answers.removeFirst()
                guard error == 0 else { return -error }
                var ends: [Int32] = [0, 0]
                guard pipe(&ends) == 0 else { return -errno }
                _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
                state.writers.append(ends[1])
                return ends[0]
            }
        }

        /// The kernel ends what it has given.
        func closeAll() {
            state.withLock { state in
                for writer in state.writers { close(writer) }
                state.writers = []
            }
        }

        var calls: Int { state.withLock { $0.calls } }
    }

    private let log = Logger(label: "watch") { _ in SwiftLogNoOpLogHandler() }
    private let pause = RetryPause(1...4)

    /// Runs on a loop of its own, and ends when `onChange` was called so often.
    private func changes(
        _ count: Int, _ kernel: Kernel,
        watching start: @escaping @Sendable (any EventLoop, @escaping () -> Void) -> KernelEvents,
        afterEach: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let done = loop.makePromise(of: Void.self)
        let box = try await loop.submit {
            var seen = 0
            let watch = start(loop) {
                seen += 1
                afterEach(seen)
                if seen == count { done.succeed() }
            }
            return NIOLoopBound(watch, eventLoop: loop)
        }.get()
        try await done.futureResult.get()
        try await loop.submit { box.value.stop() }.get()
        try await group.shutdownGracefully()
    }

    @Test func theNetworkIsWatchedAgainAfterTheKernelHadNoSocket() async throws {
        let kernel = Kernel([EMFILE, ENFILE, EMFILE, 0, EMFILE, EMFILE])
        // The first change: nobody has heard of what happened while there was no socket. The second: the same after the end.
        try await changes(2, kernel) { [log, pause] loop, changed in
            NetworkChangeMonitor.start(on: loop, log: log, pause: pause, socket: { kernel.open() }, onChange: changed)
        } afterEach: { seen in
            if seen == 1 { kernel.closeAll() }
        }
        #expect(kernel.calls == 7)
    }

    @Test func certificatesAreWatchedAgainAfterTheKernelHadNoWatch() async throws {
        let kernel = Kernel([EMFILE, 0, ENOMEM])
        try await changes(2, kernel) { [log, pause] loop, changed in
            FileWatch.start(on: loop, log: log, pause: pause, source: { kernel.open() }, onChange: changed)
        } afterEach: { seen in
            if seen == 1 { kernel.closeAll() }
        }
        #expect(kernel.calls == 4)
    }

    @Test func aWatchThatWasStoppedAsksForNothingMore() async throws {
        let kernel = Kernel([EMFILE])
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let (log, pause) = (log, pause)
        try await loop.submit {
            let watch = NetworkChangeMonitor.start(on: loop, log: log, pause: pause, socket: { kernel.open() }) {}
            watch.stop()
        }.get()
        // Later than any pause.
        try await loop.scheduleTask(in: .milliseconds(50)) {}.futureResult.get()
        #expect(kernel.calls == 1)
        try await group.shutdownGracefully()
    }
}

/// Messages as rtnetlink(7) lays them out, in this machine's byte order.
private enum Netlink {
    static func message(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
        bytes(UInt32(16 + body.count)) + bytes(type) + bytes(UInt16(0)) + [UInt8](repeating: 0, count: 8)
            + body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
    }

    static func link(index: UInt32, flags: UInt32, type: UInt16 = 16) -> [UInt8] {
        message(type, [0, 0] + bytes(UInt16(1)) + bytes(index) + bytes(flags) + bytes(UInt32.max))
    }

    static func address(_ address: [UInt8], scope: UInt8 = 0, type: UInt16 = 20) -> [UInt8] {
        message(type, [2, 24, 0, scope] + bytes(UInt32(2)) + attribute(3, [101, 116, 104, 0]) + attribute(1, address))
    }

    static func route(gateway: [UInt8], destination: UInt8 = 0, kind: UInt8 = 1, type: UInt16 = 24) -> [UInt8] {
        message(
            type,
            [2, destination, 0, 0, 254, 3, 0, kind] + bytes(UInt32(0)) + attribute(5, gateway)
                + attribute(4, bytes(UInt32(2))))
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        bytes(UInt16(4 + value.count)) + bytes(type) + value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    }

    static func bytes<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    static let up: UInt32 = 0x1
    static let running: UInt32 = 0x40
    static let loopback: UInt32 = 0x8
}

/// What is told to one watch, message by message.
private final class Listener {
    private var networkChanges = NetworkChanges()

    func tells(_ bytes: [UInt8]) -> Bool { networkChanges.take(bytes) }
}

@Suite("What the kernel tells of the network") struct NetworkChangesTests {
    @Test func aCableThatIsPluggedInOrPulledIsNewsOnce() {
        let kernel = Listener()
        #expect(!kernel.tells(Netlink.link(index: 2, flags: Netlink.up)))
        #expect(kernel.tells(Netlink.link(index: 2, flags: Netlink.up | Netlink.running)))
        #expect(!kernel.tells(Netlink.link(index: 2, flags: Netlink.up | Netlink.running)))
        #expect(kernel.tells(Netlink.link(index: 2, flags: Netlink.up)))
        #expect(kernel.tells(Netlink.link(index: 2, flags: Netlink.up | Netlink.running)))
        #expect(kernel.tells(Netlink.link(index: 2, flags: 0, type: 17)))
        #expect(!kernel.tells(Netlink.link(index: 1, flags: Netlink.up | Netlink.running | Netlink.loopback)))
    }

    @Test func aLeaseThatIsRefreshedIsNoNews() {
        let kernel = Listener()
        #expect(kernel.tells(Netlink.address([192, 0, 2, 7])))
        #expect(!kernel.tells(Netlink.address([192, 0, 2, 7])))
        #expect(kernel.tells(Netlink.address([192, 0, 2, 8])))
        #expect(kernel.tells(Netlink.address([192, 0, 2, 7], type: 21)))
        #expect(kernel.tells(Netlink.address([192, 0, 2, 7])))
        // Scope 253 is the link's own: nobody beyond it can be reached from there.
        #expect(!kernel.tells(Netlink.address([169, 254, 3, 4], scope: 253)))
    }

    @Test func onlyDefaultRoutesCount() {
        let kernel = Listener()
        #expect(kernel.tells(Netlink.route(gateway: [192, 0, 2, 1])))
        #expect(!kernel.tells(Netlink.route(gateway: [192, 0, 2, 1])))
        #expect(kernel.tells(Netlink.route(gateway: [198, 51, 100, 1])))
        #expect(kernel.tells(Netlink.route(gateway: [192, 0, 2, 1], type: 25)))
        #expect(!kernel.tells(Netlink.route(gateway: [192, 0, 2, 9], destination: 24)))
        // An unreachable route (7) is no way to anywhere.
        #expect(!kernel.tells(Netlink.route(gateway: [192, 0, 2, 9], kind: 7)))
    }

    @Test func everyMessageOfADatagramIsRead() {
        let kernel = Listener()
        let neighbour = Netlink.message(28, [2, 0, 0, 0, 0])
        #expect(!kernel.tells(neighbour))
        #expect(kernel.tells(neighbour + Netlink.address([192, 0, 2, 7]) + neighbour))
        #expect(!kernel.tells(neighbour + Netlink.address([192, 0, 2, 7])))
    }

    @Test func bytesThatAreNoMessageAreHarmless() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed: \(seed)")
        var state = seed
        func random() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        let kernel = Listener()
        let whole =
            Netlink.link(index: 2, flags: 0x41) + Netlink.address([1, 2, 3, 4]) + Netlink.route(gateway: [1, 2, 3, 4])
        for round in 0..<3000 {
            var bytes = Array(whole.prefix(Int(random()) % (whole.count + 1)))
            for _ in 0..<(round % 6) where !bytes.isEmpty { bytes[Int(random()) % bytes.count] = random() }
            _ = kernel.tells(bytes)
        }
        #expect(!kernel.tells([UInt8]()))
        #expect(!kernel.tells([UInt8](repeating: 0, count: 64)))
        #expect(!kernel.tells([UInt8](repeating: 0xFF, count: 64)))
    }
}
