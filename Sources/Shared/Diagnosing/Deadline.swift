internal import NIOCore
internal import NIOPosix

/// Runs work that may block, with a time limit.
package enum Deadline {
    /// Work that hangs, such as a name lookup, cannot be stopped. Its thread is left behind, and the program ends without it.
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 8)
        pool.start()
        return pool
    }()

    /// What `work` returns, or nil after so many seconds.
    package static func run<Value: Sendable>(
        seconds: Int64, _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let promise = loop.makePromise(of: Value?.self)
        let end = loop.scheduleTask(in: .seconds(seconds)) { promise.succeed(nil) }
        pool.submit { state in
            let value: Value? = state == .active ? work() : nil
            loop.execute {
                end.cancel()
                promise.succeed(value)
            }
        }
        return (try? await promise.futureResult.get()) ?? nil
    }
}
