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
        watching start: @escaping @Sendable (any EventLoop, @escaping () -> Void) -> any Stoppable,
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
            NetworkWatch.start(on: loop, log: log, pause: pause, socket: { kernel.open() }, onChange: changed)
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
            let watch = NetworkWatch.start(on: loop, log: log, pause: pause, socket: { kernel.open() }) {}
            watch.stop()
        }.get()
        // Later than any pause.
        try await loop.scheduleTask(in: .milliseconds(50)) {}.futureResult.get()
        #expect(kernel.calls == 1)
        try await group.shutdownGracefully()
    }
}

private protocol Stoppable { func stop() }
extension NetworkWatch: Stoppable {}
extension FileWatch: Stoppable {}
