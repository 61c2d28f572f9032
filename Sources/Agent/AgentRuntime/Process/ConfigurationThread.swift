internal import Dispatch
internal import NIOCore

/// Reads the configuration and the files that it names on a thread beside the loop: their disk may hang.
enum ConfigurationThread {
    private static let files = DispatchQueue(label: "io.saker.configuration")

    /// Completes on the loop. One reading follows the other.
    static func read(_ path: String, on loop: any EventLoop) -> EventLoopFuture<AgentConfiguration> {
        let promise = loop.makePromise(of: AgentConfiguration.self)
        files.async {
            promise.completeWith(Result { try AgentConfiguration.load(path: path) })
        }
        return promise.futureResult
    }
}
