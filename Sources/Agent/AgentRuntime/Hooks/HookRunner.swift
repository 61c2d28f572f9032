package import NIOCore
internal import NIOPosix

/// Runs hooks beside the event loop. Futures fail only after ``shutDown(on:)``.
package protocol HookExecutor: AnyObject {
    /// The hooks of the directory, and why other files are no hooks.
    func list(on loop: any EventLoop) -> EventLoopFuture<(hooks: [String], refusals: [String])>
    /// Runs a hook; completes when the hook and its process group have ended. `failure`: a sentence; `output`: what the
    /// hook printed, cut. `kind`: the kind of the event; `input`: the event.
    func run(
        _ hook: String, kind: String, input: [UInt8], on loop: any EventLoop
    ) -> EventLoopFuture<(failure: String?, output: String)>
    /// Ends the hooks that run, and completes when they have ended.
    func shutDown(on loop: any EventLoop) -> EventLoopFuture<Void>
}

/// Hooks as processes, each watched by a thread of its own. The threads begin with the first event.
final class HookRunner: HookExecutor {
    private let directory: HookDirectory
    /// Milliseconds that a hook may take.
    private let limit: Int64
    private let socket: String
    private let running = RunningHooks()
    private var threads: NIOThreadPool?
    private let threadCount: Int
    private var isShutDown = false

    private struct ShutDown: Error {}

    /// `concurrency`: hooks that run at a time; `socket`: the agent's, which hooks may ask.
    init(directory: HookDirectory, limit: Int64, socket: String, concurrency: Int) {
        self.directory = directory
        self.limit = limit
        self.socket = socket
        // One thread more, so that the look into the directory does not wait for a hook.
        threadCount = concurrency + 1
    }

    /// Nil after the shutdown: threads that begin then would never end.
    private var pool: NIOThreadPool? {
        if isShutDown { return nil }
        if let threads { return threads }
        let made = NIOThreadPool(numberOfThreads: threadCount)
        made.start()
        threads = made
        return made
    }

    func list(on loop: any EventLoop) -> EventLoopFuture<(hooks: [String], refusals: [String])> {
        let directory = directory
        guard let pool else { return loop.makeFailedFuture(ShutDown()) }
        return pool.runIfActive(eventLoop: loop) {
            let listing = directory.list()
            return (listing.hooks, listing.refusals)
        }
    }

    func run(
        _ hook: String, kind: String, input: [UInt8], on loop: any EventLoop
    ) -> EventLoopFuture<(failure: String?, output: String)> {
        // Nothing of the agent's own environment, which names the places of credentials.
        let environment = [
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
            "SAKER_EVENT=\(kind)", "SAKER_SOCKET=\(socket)",
        ]
        let process = HookProcess(
            path: "\(directory.path)/\(hook)", environment: environment, input: input, limit: limit, running: running)
        guard let pool else { return loop.makeFailedFuture(ShutDown()) }
        return pool.runIfActive(eventLoop: loop) {
            let outcome = process.run()
            return (outcome.failure, outcome.output)
        }
    }

    func shutDown(on loop: any EventLoop) -> EventLoopFuture<Void> {
        running.stop()
        isShutDown = true
        guard let threads else { return loop.makeSucceededVoidFuture() }
        self.threads = nil
        let done = loop.makePromise(of: Void.self)
        threads.shutdownGracefully { _ in done.succeed() }
        return done.futureResult
    }
}
