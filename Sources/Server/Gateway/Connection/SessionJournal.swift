import Logging
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
