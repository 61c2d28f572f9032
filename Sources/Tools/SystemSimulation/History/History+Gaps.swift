internal import AgentRuntime
internal import TrackModel

// What keeps points away, looked at once a second, and when gathering begins and ends: both may be in one second.
extension History {
    func watchGaps() {
        after(1000) { $0.watchGaps() }
        noteCause()
    }

    func noteCause() {
        gaps.observe(
            GapModel.Stretch(
                since: trueTime, cause: cause, gathers: grid.entity, ranAs: target.told.entity,
                isDiskWell: isDiskWell(box) && !memory.isFailing))
    }

    /// A process begins.
    func noteLife() {
        gaps.processStarted(at: trueTime)
        if let remembered = rememberedEntity { gaps.mayRun(as: remembered, at: trueTime) }
    }

    /// The agent says so.
    func gatheringStarted(_ entity: String) {
        grid.startGathering(entity)
        gaps.mayRun(as: entity, at: trueTime)
        noteCause()
        fencesStart(entity)
    }

    private var cause: GapModel.Cause {
        guard let box, !box.isStopping else { return .off }
        guard grid.entity != nil else { return .stopped }
        guard box.feeds.open != nil, isGPSDUp else { return .noReceiver }
        guard receiver.hasFix, !receiver.isInTunnel else { return .noFix }
        return grid.isParked ? .parked : .fixes
    }
}
