internal import AgentLogic
internal import GNSSFeed

/// Whether a point that is gathered now will reach the server without help from a person, and one sentence that says why.
struct TrackedVerdict: Hashable {
    let isTracked: Bool
    let reason: String

    init(
        service: ServiceMachine.ServiceState, isGathering: Bool, feed: FeedState, link: LinkState,
        isCacheInMemory: Bool
    ) {
        let obstacle = Self.obstacle(service, isGathering, feed)
        isTracked = obstacle == nil
        reason = obstacle ?? Self.way(link, isCacheInMemory)
    }

    private static func obstacle(
        _ service: ServiceMachine.ServiceState, _ isGathering: Bool, _ feed: FeedState
    ) -> String? {
        switch service {
        case .stopped: return "the service is not started: saker service start"
        case .stopping: return "the service is being stopped"
        case .starting, .online, .offline: break
        }
        guard isGathering else { return "gathering is off: saker gather start" }
        switch feed {
        case .fix: return nil
        case .noFix: return "the receiver has no fix yet: antenna, sky view"
        case .noDevice(let reason), .unreachable(let reason), .permissionDenied(let reason): return reason
        case .stopped, .connecting: return "gpsd has not answered yet"
        }
    }

    private static func way(_ link: LinkState, _ isCacheInMemory: Bool) -> String {
        let keeping =
            isCacheInMemory
            ? "points are kept in memory only, because the disk refuses them" : "points are kept on disk"
        switch link {
        case .online: return "points are gathered and uploaded"
        case .connecting, .handshaking, .loggingIn: return "connecting to the server; \(keeping)"
        case .waiting(_, let trouble): return "\(trouble.reason); \(keeping)"
        case .refused(_, let trouble) where trouble.cause == .credentialsUnusable:
            return "no connection can be made: \(trouble.reason); \(keeping)"
        case .refused(_, let trouble): return "the login is refused: \(trouble.reason); \(keeping)"
        case .closed, .closing: return keeping
        }
    }
}
