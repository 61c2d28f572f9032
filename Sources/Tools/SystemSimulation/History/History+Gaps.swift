internal import AgentRuntime
internal import TrackModel

// What keeps points away, looked at once a second.
extension History {
    func watchGaps() {
        after(1000) { $0.watchGaps() }
        gaps.observe(
            GapModel.Stretch(
                since: trueTime, cause: cause, gathers: grid.entity, ranAs: target.told.entity,
                isDiskWell: isDiskWell(box) && !memory.isFailing))
    }

    private var cause: GapModel.Cause {
        guard let box, !box.isStopping else { return .off }
        guard grid.entity != nil else { return .stopped }
        guard box.feeds.open != nil, isGPSDUp else { return .noReceiver }
        guard receiver.hasFix, !receiver.isInTunnel else { return .noFix }
        return grid.isParked ? .parked : .fixes
    }
}
