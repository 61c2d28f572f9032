import ConnectionLimits
package import Logging
import Synchronization
package import TrackModel
import TrackStore

/// The journal of the Web API and of the jobs that its clients make. A client can cause each of its lines, so the clients of a service
/// have a budget of lines together, and those of no known service have one. What was left out is said with the next line.
package final class RequestLog: Sendable {
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let budgets = Mutex<[ServiceID?: LineBudget]>([:])

    package init(_ logger: Logger, now: @escaping @Sendable () -> Timestamp) {
        (self.logger, self.now) = (logger, now)
    }

    /// `isCertain`: the line says what is gone for good, so it is written in any case.
    package func write(
        _ level: Logger.Level, _ message: Logger.Message, of service: ServiceID? = nil, _ metadata: Logger.Metadata,
        isCertain: Bool = false
    ) {
        // The budget only compares times. When the server's clock goes back, it fills later.
        let time = MonotonicTime(milliseconds: now().milliseconds)
        let line = budgets.withLock { $0[service, default: LineBudget()].line(at: time, isCertain: isCertain) }
        guard let skipped = line else { return }
        var metadata = metadata
        if let service { metadata["service"] = "\(service.rawValue)" }
        if skipped > 0 { metadata["skipped"] = "\(skipped)" }
        logger.log(level: level, message, metadata: metadata)
    }
}
