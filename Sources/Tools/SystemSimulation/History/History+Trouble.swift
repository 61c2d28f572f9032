internal import AgentControl
internal import AgentRuntime
internal import DiskRing
internal import NIOCore
internal import TrackTestKit

// What goes wrong, and what people do.
extension History {
    static let entities = ["van", "van", "van", "tram", "bus"]

    func trouble() {
        guard !isHealed else { return }
        after(Int64.random(in: 1...2 * profile.pace * 1000, using: &dice)) { $0.trouble() }
        let trouble = profile.draw(&dice)
        note("\(trouble)")
        switch trouble {
        case .networkDown, .networkBlackHole, .linkReset, .linkSilent, .linkCutAtByte, .slowNetwork, .tornNetwork:
            networkTrouble(trouble)
        case .serverRestart, .serverKill, .serverCut, .storeFails, .storeHangs, .answersLost: serverTrouble(trouble)
        case .agentCut, .agentCutInOperation, .agentKill, .agentStop: agentEnds(trouble)
        case .diskReplaced, .diskFailsAtBoot, .diskFailsAndCut, .syncFailsAndKill: diskFails(trouble)
        case .diskFull, .diskError, .diskReadOnly, .diskSlow, .diskStalls, .diskShort, .rot, .memoryFails:
            diskTrouble(trouble)
        case .tunnel, .noFix, .receiverBack, .receiverRollover, .receiverLeaps, .gpsdGone: receiverTrouble(trouble)
        case .clockStep:
            clock.isSynchronised = !dice.one(in: 3)
            let step = Int64.random(in: -86_400_000...86_400_000, using: &dice)
            clock.offset = dice.one(in: 4) ? Self.beginning : clock.offset + step
            // Who keeps a clock sets it before he says that it is right.
            if abs(clock.offset - Self.beginning) > 300_000 { clock.isSynchronised = false }
        case .clockDrift: clock.drift = Int64.random(in: -500...500, using: &dice)
        case .startService, .stopService, .startGather, .stopGather, .clear, .limit, .intervals, .location, .reset,
            .reconnect, .attributes:
            command(trouble)
        case .merge: mergeChunks()
        case .push: push()
        }
    }

    private func span(_ seconds: ClosedRange<Int64>) -> Int64 { Int64.random(in: seconds, using: &dice) * 1000 }

    // MARK: Network

    private func networkTrouble(_ trouble: Profile.Trouble) {
        func forAll(_ action: (VirtualConnection) -> Void) {
            for connection in network.connections { action(connection) }
        }
        switch trouble {
        case .networkDown, .networkBlackHole:
            network.reach = trouble == .networkDown ? .refuses : .swallows
            // Open connections hear of it, or do not.
            let isTold = dice.one(in: 3)
            forAll { if isTold { $0.cut(agentBytes: 0, serverBytes: 0, reset: true) } else { $0.fallSilent() } }
            after(span(dice.one(in: 4) ? 600...7200 : 5...600)) { history in
                if !history.profile.isOffline { history.network.reach = .works }
            }
        case .linkReset:
            summary.linksCut += 1
            forAll { $0.cut(agentBytes: 0, serverBytes: 0, reset: true) }
        case .linkSilent:
            summary.linksCut += 1
            forAll { $0.fallSilent() }
        case .linkCutAtByte:
            summary.linksCut += 1
            let (up, down) = (Int.random(in: 0...4000, using: &dice), Int.random(in: 0...200, using: &dice))
            let (isUp, isDown, isTold) = (dice.one(in: 2), dice.one(in: 2), dice.one(in: 2))
            forAll {
                $0.cut(agentBytes: isUp ? up : .max, serverBytes: isDown ? down : .max, reset: isTold)
            }
        case .slowNetwork:
            network.latency = Int64.random(in: 100...6000, using: &dice)
            network.jitter = Int64.random(in: 0...2000, using: &dice)
            after(span(10...900)) { ($0.network.latency, $0.network.jitter) = (40, 20) }
        default:
            network.largestPiece = dice.one(in: 2) ? 1 : Int.random(in: 1...64, using: &dice)
            after(span(10...300)) { $0.network.largestPiece = 1460 }
        }
    }

    // MARK: Server

    private func serverTrouble(_ trouble: Profile.Trouble) {
        let pause = span(1...120)
        switch trouble {
        case .serverRestart:
            summary.serverRestarts += 1
            stopServerGently { $0.after(pause) { $0.startServer() } }
        case .serverKill:
            summary.serverCuts += 1
            guard server?.isStopping == false else { return }
            stopServerNow(tellingPeers: true)
            after(pause) { $0.startServer() }
        case .serverCut:
            summary.serverCuts += 1
            guard server?.isStopping == false else { return }
            cutServer()
        case .storeFails:
            // Slow as well, so that more batches wait behind the one that fails.
            storeTrouble.fails = true
            storeTrouble.slowness = Int64.random(in: 3...1500, using: &dice)
            after(span(1...60)) { ($0.storeTrouble.fails, $0.storeTrouble.slowness) = (false, 3) }
        case .answersLost:
            storeTrouble.losesAnswers = true
            after(span(1...60)) { $0.storeTrouble.losesAnswers = false }
        default:
            storeTrouble.slowness = Int64.random(in: 100...60_000, using: &dice)
            if dice.one(in: 2) { resetLinksForAWhile() }
            after(span(5...300)) { $0.storeTrouble.slowness = 3 }
        }
    }

    /// With a slow store: a new session logs in before the commit of what the old one brought, and sends it again.
    private func resetLinksForAWhile() {
        storeTrouble.slowness = Int64.random(in: 500...4000, using: &dice)
        var at: Int64 = 0
        for _ in 0..<10 {
            at += span(2...12)
            after(at) { history in
                guard !history.isHealed else { return }
                for connection in history.network.connections {
                    connection.cut(agentBytes: 0, serverBytes: 0, reset: true)
                }
            }
        }
    }

    // MARK: Vehicle

    private func agentEnds(_ trouble: Profile.Trouble) {
        guard let box, !box.isStopping else { return }
        let pause = span(dice.one(in: 10) ? 600...3600 : 1...30)
        switch trouble {
        case .agentCutInOperation:
            disk.callsUntilPowerFailure = Int.random(in: 0...40, using: &dice)
            // An idle disk would never get there.
            after(span(30...60)) { $0.disk.callsUntilPowerFailure = nil }
        case .agentStop:
            summary.agentStops += 1
            box.isStopping = true
            // Gathering ends with the process, and what waits for the end of its epoch is a point of it.
            choose(grid.stopGathering())
            // Two seconds may be too short for a slow disk; then it is killed, as systemd does.
            let stopped = box.agent.shutDown()
            checkTally(box)
            stopped.assumeIsolated().whenSuccess { [unowned self] in
                guard self.box === box else { return }
                check { () throws(Violation) in
                    try ledger.observe(box.executor.cache, .other, at: now, witness)
                    try ledger.stopped()
                }
                end(box, how: .stop)
                after(pause) { $0.bootAgent() }
            }
            after(10_000) { history in
                guard history.box === box else { return }
                history.end(box, how: .kill)
                history.after(pause) { $0.bootAgent() }
            }
        default:
            if trouble == .agentCut { summary.agentCuts += 1 } else { summary.agentKills += 1 }
            end(box, how: trouble == .agentCut ? .power : .kill)
            after(pause) { $0.bootAgent() }
        }
    }

    /// A disk that fails together with the power.
    private func diskFails(_ trouble: Profile.Trouble) {
        guard box?.isStopping == false else { return }
        calm.trouble(now)
        switch trouble {
        case .diskReplaced:
            agentEnds(.agentCut)
            note("the disk is replaced by an empty one")
            disk = DiskSimulation(seed: dice.next(), directories: ["/var"])
            ledger.diskReplaced()
            alarms.diskReplaced()
            fences?.diskReplaced()
            restoring?.diskReplaced()
            gaps.diskReplaced()
            forgetRemembered()
        case .diskFailsAtBoot:
            agentEnds(dice.one(in: 2) ? .agentCut : .agentKill)
            let kinds: [Set<CacheFileError.Operation>] = [[.list], [.read], [.open], [.list, .open, .read, .write]]
            disk.faults = [DiskFault(kinds[Int.random(in: 0..<kinds.count, using: &dice)], number: 5)]
            after(span(20...300)) { $0.healDisk() }
        case .syncFailsAndKill:
            // What the kernel could not write it calls clean: the next process finds it there, the power takes it.
            disk.faults = [
                DiskFault([.synchronizeData], times: Int.random(in: 1...2, using: &dice), number: 5),
                DiskFault([.rename], times: 1, number: 5),
            ]
            after(span(1...30)) { history in
                guard !history.isHealed else { return }
                history.agentEnds(.agentKill)
                history.healDisk()
            }
            after(span(32...90)) { history in
                if !history.isHealed { history.agentEnds(.agentCut) }
            }
        default:
            // In memory, and online if the link is: then the power goes.
            disk.faults = [DiskFault([.write, .synchronizeData, .open], number: dice.one(in: 2) ? 5 : 28)]
            after(span(10...400)) { history in
                guard !history.isHealed else { return }
                history.agentEnds(.agentCut)
                history.healDisk()
            }
        }
    }

    /// With several segments to upload the disk may refuse a few calls while they are read: the next segment could be
    /// read, and must wait for the one that could not.
    func backlogFails() {
        guard !isHealed, profile.hasBacklogErrors, disk.faults.isEmpty else { return }
        guard disk.paths.count(where: { $0.hasSuffix(".segment") }) > 1 else { return }
        note("the disk refuses some calls while the backlog is read")
        summary.diskFaults += 1
        let kinds: Set<CacheFileError.Operation> = dice.one(in: 2) ? [.read] : [.open, .read]
        disk.faults = [
            DiskFault(
                kinds, after: Int.random(in: 0...6, using: &dice), times: Int.random(in: 1...2, using: &dice), number: 5
            )
        ]
        after(span(5...60)) { $0.disk.faults = [] }
    }

    func healDisk() {
        calm.trouble(now)
        disk.faults = []
        disk.isReadOnly = false
        disk.capacity = nil
        disk.synchronizationDelay = 0
        disk.hasShortTransfers = false
        disk.interruptionOdds = nil
        disk.callsUntilPowerFailure = nil
        box?.executor.slowness = 0
        box?.executor.stalledUntil = .uptimeNanoseconds(0)
    }

    private func diskTrouble(_ trouble: Profile.Trouble) {
        summary.diskFaults += 1
        calm.trouble(now)
        let isLong = dice.one(in: 8)
        let end = span(isLong ? 300...3600 : 1...120)
        switch trouble {
        case .diskFull: disk.capacity = disk.usedBytes + Int.random(in: 0...50_000, using: &dice)
        case .diskError:
            let kinds: Set<CacheFileError.Operation>? =
                [
                    nil, [.write], [.synchronizeData], [.read], [.open], [.synchronizeDirectory, .rename, .unlink],
                ].randomElement(using: &dice) ?? nil
            disk.faults.append(
                DiskFault(
                    kinds, after: Int.random(in: 0...5, using: &dice), times: Int.random(in: 1...5, using: &dice),
                    number: 5))
        case .diskReadOnly: disk.isReadOnly = true
        case .diskSlow: disk.synchronizationDelay = Int64.random(in: 10...4000, using: &dice)
        case .diskStalls:
            box?.executor.stalledUntil = loop.now + .milliseconds(span(isLong ? 600...4000 : 5...120))
        case .diskShort:
            disk.hasShortTransfers = true
            disk.interruptionOdds = 10
        case .memoryFails: memory.isFailing = true
        default:
            let files = disk.paths.filter { $0.hasPrefix("/var/cache/") && !$0.hasSuffix("lock") }
            guard let path = files.randomElement(using: &dice), let bytes = disk.contents(of: path), !bytes.isEmpty
            else { return }
            let bit = Int.random(in: 0..<8, using: &dice)
            // Most of a segment is still empty.
            let used = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
            let offset = Int.random(in: 0..<(dice.one(in: 2) ? bytes.count : used), using: &dice)
            let before = witness.content()
            disk.flip(bit: bit, at: offset, of: path)
            ledger.flipped(from: before, to: witness.content())
            fences?.flipped(at: now)
            return
        }
        after(end) { history in
            history.calm.trouble(history.now)
            if trouble == .memoryFails { history.memory.isFailing = false } else { history.healDisk() }
        }
    }

    private func receiverTrouble(_ trouble: Profile.Trouble) {
        switch trouble {
        case .tunnel:
            receiver.isInTunnel = true
            after(2500) {
                $0.silence()
                $0.tellFeedState()
            }
            after(span(dice.one(in: 5) ? 600...3600 : 3...300)) {
                $0.receiver.isInTunnel = false
                $0.tellFeedState()
            }
        case .noFix:
            receiver.hasFix = false
            tellFeedState()
            after(span(3...120)) {
                $0.receiver.hasFix = true
                $0.tellFeedState()
            }
        case .receiverBack:
            gaps.isTimeWrong = true
            receiver.timeOffset = -Int64.random(in: 1...7_200_000, using: &dice)
            after(span(1...60)) { $0.receiver.timeOffset = 0 }
        case .receiverRollover:
            gaps.isTimeWrong = true
            receiver.timeOffset = dice.one(in: 2) ? 1024 * 7 * 86_400_000 : -1024 * 7 * 86_400_000
            after(span(1...30)) { $0.receiver.timeOffset = 0 }
        case .receiverLeaps: receiver.leap()
        default:
            isGPSDUp = false
            after(2500) { $0.silence() }
            tellFeedState()
            after(span(1...120)) {
                $0.isGPSDUp = true
                $0.tellFeedState()
            }
        }
    }
}
