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
    private let logger: Logger

    init(_ core: GatewayCore, address: String) {
        self.address = address
        counters = core.counters
        logger = core.logger
    }

    func note(_ note: SessionNote) {
        switch note {
        case .handshakeFailed: counters.add(to: \.failedHandshakes)
        case .loginRefused(let refusal, let entity): refused(refusal, entity: entity)
        case .loginEnded(let refusal, let entity): refused(refusal, entity: entity ?? "")
        case .loggedIn(let version):
            counters.add(to: \.logins)
            logger.info("A vehicle has logged in", metadata: metadata(["agent_version": "\(version)"]))
        case .violation(let reason):
            counters.add(to: \.violations)
            logger.info(
                "A connection is closed, because the vehicle has broken the protocol",
                metadata: metadata(["reason": "\(reason)"]))
        case .pointsRefused(let count, let ahead, let reason):
            counters.add(UInt64(count), to: \.refusedPoints)
            counters.add(UInt64(ahead), to: \.refusedAhead)
            guard let reason else { return }
            logger.info(
                "Points of a vehicle are refused",
                metadata: metadata(["count": "\(count)", "first_reason": "\(reason)"]))
        case .attributesIgnored(let keys, let isFirst):
            counters.add(to: \.batchesWithIgnoredAttributes)
            guard isFirst else { return }
            logger.info(
                "Attributes of a vehicle are ignored, because they have no track column or another type",
                metadata: metadata(["count": "\(keys.count)", "first_key": "\(keys.min() ?? "")"]))
        case .streamShared(let rescued, let refused, let isFirst):
            counters.add(UInt64(rescued), to: \.rescuedPoints)
            guard isFirst else { return }
            logger.warning(
                "two agents use one stream: their points are kept apart by their times",
                metadata: metadata([
                    "points": "\(rescued)", "refused": "\(refused)", "message_id": "\(MessageID.streamShared)",
                ]))
        case .hintRefused: counters.add(to: \.refusedHints)
        case .pushAcknowledged: counters.add(to: \.acknowledgedPushes)
        case .pushGivenUp(let id, let type):
            counters.add(to: \.givenUpPushes)
            logger.notice(
                "A push is given up, because the agent does not acknowledge it",
                metadata: metadata(["push": "\(id)", "type": "\(type)"]))
        }
    }

    private func refused(_ refusal: LoginRefusal, entity: String) {
        counters.refused(refusal.code)
        logger.notice(
            "A login is refused",
            metadata: metadata([
                "reason": "\(refusal.reason)", "entity": "\(entity.prefix(128))",
                "message_id": "\(MessageID.sessionRefused)",
            ]))
    }

    func failed(_ error: any Error) {
        logger.debug("A connection has failed", metadata: metadata(["error": "\(error)"]))
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
