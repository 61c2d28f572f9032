internal import Dispatch
internal import NIOCore
internal import Synchronization

/// A thread for work that takes long, while there is some. Points and heartbeats do not wait for it.
final class LongWorkThread: LongWorkExecutor, Sendable {
    private let queue = DispatchQueue(label: "io.saker.long-work")
    private let waiting = Mutex(0)

    /// Pieces of work that may wait: each may hold a message of the control socket (1 MiB).
    static let maximumWaiting = 8

    func perform<Result: Sendable>(
        on loop: any EventLoop, _ work: @escaping @Sendable () -> Result
    ) -> EventLoopFuture<Result>? {
        let isAccepted = waiting.withLock { count in
            guard count < Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard isAccepted else { return nil }
        let promise = loop.makePromise(of: Result.self)
        queue.async { [self] in
            let result = work()
            waiting.withLock { $0 -= 1 }
            promise.succeed(result)
        }
        return promise.futureResult
    }
}
