internal import AgentRuntime
internal import GNSSFeed
internal import NIOCore
internal import TrackModel

// What the agent hears of the receiver beside its reports.
extension History {
    /// As the agent reads them now.
    var clocks: DateModel.Clocks {
        let system = clock.read()
        let isPossible = system.milliseconds >= SakerVersion.madeAt * 1000
        return DateModel.Clocks(
            now: Int64(loop.now.uptimeNanoseconds / 1_000_000), system: system.milliseconds,
            isKept: system.isSynchronised && isPossible)
    }

    func tellFeedState() {
        guard let watch = box?.feeds.open else { return }
        if !isGPSDUp {
            watch.deliver(.state(.unreachable(reason: "gpsd is gone")))
        } else {
            watch.deliver(.state(receiver.hasFix && !receiver.isInTunnel ? .fix : .noFix))
        }
    }
}
