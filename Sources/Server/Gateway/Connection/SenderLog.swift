import Admission
import Logging
import NIOCore
import Synchronization
import TrackModel
import TrackStore

/// Writes the lines of the log that vehicles and strangers cause, within their budgets.
///
/// Nothing else in this room writes a line that somebody outside can cause as often as it likes; a test counts the others.
final class SenderLog: Sendable {
    enum Sender: Hashable {
        /// Has logged in.
        case vehicle(EntityKey)
        /// Has not shown yet who it is. Its address.
        case stranger(String)
        /// What the store fails for whoever asks it.
        case store
    }

    /// How often it is said how many lines were left out.
    static let interval = Duration.seconds(60)

    private struct State {
        /// A fleet of 50,000 vehicles comes back within minutes after a restart of the server. Each service has lines of its own: a key
        /// can be as many vehicles as it likes.
        var vehicles: [ServiceID: SenderLines] = [:]
        var strangers = SenderLines(SenderLines.Limits(burstOfAll: 300, intervalOfAll: 200))
    }

    private static let ofService = SenderLines.Limits(burstOfAll: 100_000, intervalOfAll: 10)

    private let logger: Logger
    private let state = Mutex(State())

    init(_ logger: Logger) {
        self.logger = logger
    }

    func write(
        _ level: Logger.Level, _ text: Logger.Message, _ metadata: @autoclosure () -> Logger.Metadata, of sender: Sender
    ) {
        guard logger.logLevel <= level else { return }
        let now = Self.now
        let skipped = state.withLock { state in
            switch sender {
            case .vehicle(let key):
                state.vehicles[key.service, default: SenderLines(Self.ofService)].line(
                    of: "\(key.service.rawValue) \(key.name)", at: now)
            case .stranger(let address): state.strangers.line(of: address, at: now)
            case .store: state.strangers.line(of: "store", at: now)
            }
        }
        guard let skipped else { return }
        var metadata = metadata()
        if skipped > 0 { metadata["skipped"] = "\(skipped)" }
        logger.log(level: level, text, metadata: metadata)
    }

    /// Says how many lines were left out of those who have been silent since. Call it now and then.
    func tellLeftOut() {
        let now = Self.now
        let found = state.withLock { state in
            let services = Array(state.vehicles.keys)
            return services.flatMap { state.vehicles[$0]?.takeLeftOut(at: now) ?? [] }
                + state.strangers.takeLeftOut(at: now)
        }
        for (sender, lines) in found {
            logger.notice(
                "lines of a sender were left out", metadata: ["sender": "\(sender ?? "others")", "skipped": "\(lines)"])
        }
    }

    private static var now: MonotonicTime {
        MonotonicTime(milliseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000))
    }
}
