internal import GNSSFeed

/// The kernel's clock.
final class KernelClock: SystemClockSource, Sendable {
    func read() -> SystemClock { .read() }
}

/// gpsd through libgps, on a thread of the feed's own.
final class GNSSFeedSource: FeedSource {
    func open(
        _ gnss: AgentConfiguration.GNSS, deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) -> any OpenFeed {
        let feed = try GNSSFeed(
            configuration: FeedConfiguration(host: gnss.host, port: UInt16(clamping: gnss.port), device: gnss.device),
            deliver: deliver)
        try feed.start()
        return feed
    }
}

extension GNSSFeed: OpenFeed {}
