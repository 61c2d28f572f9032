import ConnectionLimits
import Logging
import NIOCore
import Synchronization
import Systemd
import TrackModel
import TrackStore
import TrackWire

/// What one connection tells the counters and the log.
struct SessionJournal {
    let address: String
    /// From the Hello on.
    var session: UInt64?
    /// Of an open session.
    var entity: EntityKey?
    private let counters: GatewayCounters
    private let lines: SenderLog

    init(_ core: GatewayCore, address: String) {
        self.address = address
        counters = core.counters
        lines = core.lines
    }

    func note(_ note: SessionNote) {
        switch note {
        case .handshakeFailed: counters.add(to: \.failedHandshakes)
        case .loginRefused(let refusal, let entity): refused(refusal, entity: entity)
        case .loginEnded(let refusal, let entity): refused(refusal, entity: entity ?? "")
        case .loggedIn(let version):
            counters.add(to: \.logins)
            write(.info, "A vehicle has logged in", ["agent_version": "\(version)"])
        case .violation(let reason):
            counters.add(to: \.violations)
            write(
                .info, "A connection is closed, because the vehicle has broken the protocol", ["reason": "\(reason)"])
        case .pointsRefused(let count, let ahead, let reason):
            counters.add(UInt64(count), to: \.refusedPoints)
            counters.add(UInt64(ahead), to: \.refusedAhead)
            guard let reason else { return }
            write(
                .info, "Points of a vehicle are refused", ["count": "\(count)", "first_reason": "\(reason)"])
        case .attributesIgnored(let keys, let isFirst):
            counters.add(to: \.batchesWithIgnoredAttributes)
            guard isFirst else { return }
            write(
                .info, "Attributes of a vehicle are ignored, because they have no track column or another type",
                ["count": "\(keys.count)", "first_key": "\(keys.min() ?? "")"])
        case .streamShared(let rescued, let refused, let isFirst):
            counters.add(UInt64(rescued), to: \.rescuedPoints)
            guard isFirst else { return }
            write(
                .warning, "two agents use one stream: their points are kept apart by their times",
                ["points": "\(rescued)", "refused": "\(refused)", "message_id": "\(MessageID.streamShared)"])
        case .hintRefused: counters.add(to: \.refusedHints)
        case .pushAcknowledged: counters.add(to: \.acknowledgedPushes)
        case .pushGivenUp(let id, let type):
            counters.add(to: \.givenUpPushes)
            write(
                .notice, "A push is given up, because the agent does not acknowledge it",
                ["push": "\(id)", "type": "\(type)"])
        }
    }

    private func refused(_ refusal: LoginRefusal, entity: String) {
        counters.refused(refusal.code)
        write(
            .notice, "A login is refused",
            [
                "reason": "\(refusal.reason)", "entity": "\(entity.prefix(128))",
                "message_id": "\(MessageID.sessionRefused)",
            ])
    }

    func failed(_ error: any Error) {
        write(.debug, "A connection has failed", ["error": "\(error)"])
    }

    private func write(_ level: Logger.Level, _ text: Logger.Message, _ more: @autoclosure () -> Logger.Metadata) {
        let sender = entity.map { SenderLog.Sender.vehicle($0) } ?? .stranger(address)
        lines.write(level, text, metadata(more()), of: sender)
    }

    private func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = more
        metadata["address"] = "\(address)"
        if let session { metadata["session"] = "\(session)" }
        if let entity {
            metadata["service"] = "\(entity.service.rawValue)"
            metadata["entity"] = "\(entity.name)"
        }
        return metadata
    }
}

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
