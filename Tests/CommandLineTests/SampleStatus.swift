import AgentControl
import JSON

/// Statuses that the formatting tests show.
enum SampleStatus {
    static let settings = AgentSettings([
        "gather_interval": 5, "pack_interval": 30, "cache_limit": 268_435_456, "distance_filter": 2.5,
        "activity": "automotive",
    ])

    /// Everything as it should be, 2026-03-05 00:20:30 UTC.
    static let tracked = AgentStatus(
        version: "1.2.3", time: 1_772_670_030_000, startedTime: 1_772_662_630_000, entity: "货车 07", tracked: true,
        reason: "gathering, and connected to the server",
        service: ServiceStatus(state: .running, since: 1_772_662_631_000, entity: "货车 07"),
        gather: GatherStatus(state: .gathering, since: 1_772_662_632_000, lastPointTime: 1_772_670_029_000),
        feed: FeedStatus(
            state: .fix, since: 1_772_662_633_000, source: "127.0.0.1:2947", device: "/dev/ttyACM0",
            lastFix: FixReport(
                time: 1_772_670_029_500, age: 500, latitude: 31.2281, longitude: 121.4771, speed: 12.5, course: 220.4,
                altitude: 14.6, accuracy: 3.5, mode: 3, satellites: 11)),
        link: LinkStatus(
            state: .online, since: 1_772_662_634_000, server: "track.example.org:7443", session: "s-1",
            encryption: "TLSv1.3"),
        cache: CacheStatus(
            state: .disk, points: 6, bytes: 1_048_576, limit: 268_435_456, firstTime: 1_772_670_000_000,
            lastTime: 1_772_670_029_000, unacknowledged: 2, timeToFull: 1_123_200_000),
        counters: AgentCounters(
            fixes: 10_000, gathered: 2_000, uploaded: 1_996, acknowledged: 1_994,
            skipped: ["not_due": 7_900, "inaccurate": 100, "old": 0], lost: [:], sessions: 1), settings: settings)

    /// Nothing as it should be.
    static let lost = AgentStatus(
        version: "1.2.3", time: 1_772_670_030_000, startedTime: 1_772_670_000_000, tracked: false,
        reason: "gpsd does not answer",
        service: ServiceStatus(state: .starting), gather: GatherStatus(state: .waiting),
        feed: FeedStatus(state: .unreachable, source: "127.0.0.1:2947", lastError: "connection refused"),
        link: LinkStatus(
            state: .waiting, since: 1_772_670_010_000, server: "track.example.org:7443", lastError: "no route to host",
            nextTryTime: 1_772_670_042_000, attempts: 3, offlineSince: 1_772_669_000_000),
        cache: CacheStatus(
            state: .memory, lastError: "no space left on device", points: 0, bytes: 0, unacknowledged: 0),
        counters: AgentCounters(lost: ["memory_full": 12], lastLossTime: 1_772_670_020_000), settings: settings)
}
