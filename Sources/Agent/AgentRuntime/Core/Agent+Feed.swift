internal import AgentControl
internal import AgentLogic
internal import GNSSFeed
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackCache
internal import TrackModel
internal import TrackWire

// From gpsd to the disk ring.
extension Agent {
    func openFeed() {
        guard feed == nil else { return }
        feedGeneration += 1
        let generation = feedGeneration
        let agent = NIOLoopBound(self, eventLoop: loop)
        do {
            feed = try surroundings.feeds.open(configuration.gnss) { [loop] event in
                loop.execute { agent.value.feedSaid(event, generation: generation) }
            }
            feedStatus.change(.connecting, at: systemTime)
        } catch {
            log.error("GNSS feed cannot start", metadata: ["error": "\(error)"])
            feedStatus.change(.unreachable(reason: error.detail), at: systemTime)
            perform(service.locationChanged(.failed(reason: error.detail)))
        }
        onEvent(.feed(feedReport))
    }

    func closeFeed() {
        guard let feed else { return }
        feed.stop()
        self.feed = nil
        _ = assembler.flush()
        feedStatus.change(.stopped, at: systemTime)
        onEvent(.feed(feedReport))
    }

    private func feedSaid(_ event: FeedEvent, generation: Int) {
        guard generation == feedGeneration, feed != nil else { return }
        switch event {
        case .report(let report):
            lookAtTheTime()
            if let device = report.device { feedStatus.device = device }
            if let fix = assembler.report(report) { take(fix) }
        case .silence:
            if let fix = assembler.flush() { take(fix) }
        case .state(let state):
            guard feedStatus.change(state, at: systemTime) else { return }
            logFeed(state)
            onEvent(.feed(feedReport))
            perform(service.locationChanged(LocationState(state)))
        }
    }

    private func take(_ fix: Fix) {
        tally.fixes += 1
        feedStatus.fix = (fix, now)
        trustedTime.fixArrived(fix.time, now: now)
        lookAtTheTime()
        guard let entity = samplingEntity else { return }
        let before = sampler.parkedSince
        let outcome = sampler.fix(fix)
        parkingMayHaveChanged(from: before)
        switch outcome {
        case .point(let chosen): perform(collector.gathered(TrackPoint(chosen), entity: entity))
        case .parked(let place): perform(collector.gathered(TrackPoint(place, isParked: true), entity: entity))
        case .departed(let chosen):
            for fix in chosen { perform(collector.gathered(TrackPoint(fix), entity: entity)) }
        case .notDue, .skipped: break
        }
    }

    private func parkingMayHaveChanged(from before: Timestamp?) {
        guard sampler.parkedSince != before else { return }
        if sampler.parkedSince == nil {
            log.info("Vehicle moves", metadata: .event(.vehicleMoves, ["entity": "\(samplingEntity ?? "")"]))
        } else {
            log.info("Vehicle parked", metadata: .event(.vehicleParked, ["entity": "\(samplingEntity ?? "")"]))
        }
        onEvent(.gather(gatherStatus))
    }

    func append(_ point: TrackPoint, entity: String) {
        let record = PointRecord.encode(point)
        let time = point.fix.time.milliseconds
        let now = now
        let isAccepted = onDisk { cache in
            cache.append(entity: entity, time: time, payload: record, now: now)
        } then: { [self] sequence in
            guard let sequence else { return }
            lastPointTime = point.fix.time
            newest = (point, entity)
            onEvent(.gather(gatherStatus))
            perform(uplink.pointsAppended(next: sequence + 1, now: self.now))
        }
        if isAccepted {
            tally.gathered += 1
        } else {
            tally.lostBusyDisk += 1
            lastLoss = systemTime
        }
    }

    // MARK: Sampling

    func startSampling(entity: String) {
        samplingEntity = entity
        if samplerEntity == entity {
            sampler.restart()
        } else {
            retireSampler()
            samplerEntity = entity
        }
        gatherSince = systemTime
    }

    func stopSampling() {
        // The epoch that waits for its end belongs to this gathering.
        if let fix = assembler.flush() { take(fix) }
        perform(collector.flush())
        samplingEntity = nil
        gatherSince = systemTime
    }

    /// A new sampler for another entity; what the old one counted stays counted.
    private func retireSampler() {
        for (reason, count) in skippedNow where count > 0 { tally.skipped[reason, default: 0] += count }
        sampler = Sampler(interval: settingsInForce.gatherInterval, options: settingsInForce.location)
    }

    var skippedNow: [String: UInt64] {
        var skipped = ["not_due": sampler.counters.notDue]
        for reason in Sampler.SkipReason.allCases { skipped[reason.rawValue] = sampler.counters[reason] }
        return skipped
    }

    private func logFeed(_ state: FeedState) {
        let text: String
        switch state {
        case .stopped, .connecting: return
        case .unreachable(let reason): text = "unreachable: \(reason)"
        case .permissionDenied(let reason): text = "permission denied: \(reason)"
        case .noDevice(let reason): text = "no device: \(reason)"
        case .noFix: text = "no fix"
        case .fix: text = "fix"
        }
        log.info("GNSS feed changed", metadata: .event(.feedState, ["feed": "\(text)"]))
    }
}

extension LocationState {
    init(_ state: FeedState) {
        self =
            switch state {
            case .stopped, .connecting: .unknown
            case .unreachable(let reason): .off(reason: reason)
            case .permissionDenied(let reason): .forbidden(reason: reason)
            case .noDevice(let reason): .off(reason: reason)
            case .noFix, .fix: .available
            }
    }
}

/// The feed as people are told of it.
struct FeedWatch {
    let source: String
    var state = FeedState.stopped
    var since: SystemTime
    var device: String?
    /// The newest fix and when it arrived.
    var fix: (fix: Fix, arrival: MonotonicTime)?

    init(source: String, since: SystemTime) {
        self.source = source
        self.since = since
    }

    /// False when nothing changed.
    @discardableResult
    mutating func change(_ new: FeedState, at time: SystemTime) -> Bool {
        guard new != state else { return false }
        state = new
        since = time
        return true
    }
}
