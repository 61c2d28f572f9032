internal import AgentControl
internal import AgentRuntime
internal import DiskRing
internal import NIOCore
internal import TrackModel
internal import TrackTestKit

/// What an operation is, as far as the checker must know before it is done.
enum OperationLabel {
    case clear(CacheSelection)
    case other
}

/// The agent's disk thread in virtual time: one operation after the other, each taking as long as the disk does.
final class SimulatedCacheDisk: CacheExecutor {
    /// As many operations may wait as on the real thread.
    static let maximumWaiting = 1024

    private struct Operation {
        let label: OperationLabel
        /// Does it; what it returns tells the result.
        let run: () -> () -> Void
        /// It is never done. A promise that nobody keeps would hold its callbacks, and what these hold, for ever.
        let abandon: () -> Void
    }

    private struct Dead: Error {}

    let cache: DiskRing
    private let disk: DiskSimulation
    private let loop: VirtualLoop
    private let process: ProcessLoop
    private var waiting: [Operation] = []
    private var underWay: Operation?
    private var isClosed = false
    private(set) var longestQueue = 0
    /// Milliseconds that every operation takes beside what the disk says.
    var slowness: Int64 = 0
    /// Nothing is done before.
    var stalledUntil = NIODeadline.uptimeNanoseconds(0)
    /// After each operation, before its result is known.
    var onOperation: (DiskRing, OperationLabel) -> Void = { _, _ in }
    /// Goes with every operation until it is set again.
    var label = OperationLabel.other
    /// The power went in the middle of an operation.
    var onPowerFailure: (OperationLabel) -> Void = { _ in }

    init(cache: DiskRing, disk: DiskSimulation, loop: VirtualLoop, process: ProcessLoop) {
        self.cache = cache
        self.disk = disk
        self.loop = loop
        self.process = process
    }

    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (DiskRing) -> Result
    ) -> EventLoopFuture<Result>? {
        run(on: loop) { [cache] in operation(cache) }
    }

    /// The same for what else is done on the disk's thread.
    func run<Result: Sendable>(on loop: any EventLoop, _ operation: @escaping () -> Result) -> EventLoopFuture<Result>?
    {
        guard waiting.count + (underWay == nil ? 0 : 1) < Self.maximumWaiting, !isClosed else { return nil }
        // A process may die in the middle of its own doing.
        guard process.isAlive else { return loop.makeFailedFuture(Dead()) }
        let promise = loop.makePromise(of: Result.self)
        let run: () -> () -> Void = {
            let result = operation()
            return { promise.succeed(result) }
        }
        waiting.append(Operation(label: label, run: run, abandon: { promise.fail(Dead()) }))
        longestQueue = max(longestQueue, waiting.count)
        startNext()
        return promise.futureResult
    }

    func shutDown(on loop: any EventLoop, now: MonotonicTime) -> EventLoopFuture<Void> {
        let done = loop.makePromise(of: Void.self)
        let run: () -> () -> Void = { [self] in
            cache.close(now: now)
            isClosed = true
            return { done.succeed() }
        }
        waiting.append(Operation(label: .other, run: run, abandon: { done.fail(Dead()) }))
        startNext()
        return done.futureResult
    }

    /// Its process is dead: what waits is never done.
    func forget() {
        underWay?.abandon()
        for operation in waiting { operation.abandon() }
        underWay = nil
        waiting = []
        onOperation = { _, _ in }
        onPowerFailure = { _ in }
    }

    private func startNext() {
        guard underWay == nil, !waiting.isEmpty, process.isAlive else { return }
        underWay = waiting.removeFirst()
        loop.after(slowness) { [self] in run() }
    }

    private func run() {
        guard process.isAlive, let operation = underWay else { return }
        guard stalledUntil <= loop.now else {
            // The stall may end before its time.
            loop.after(1000) { [self] in run() }
            return
        }
        let before = disk.delay
        let finish = operation.run()
        guard disk.hasPower else { return onPowerFailure(operation.label) }
        onOperation(cache, operation.label)
        loop.after(disk.delay - before) { [self] in
            guard process.isAlive else { return }
            underWay = nil
            finish()
            startNext()
        }
    }
}
