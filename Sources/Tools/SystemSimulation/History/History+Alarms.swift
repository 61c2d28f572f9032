internal import AgentControl
internal import AgentRuntime
internal import AlarmLog
internal import NIOCore
internal import TrackModel
internal import TrackStore
internal import TrackTestKit

// Messages to the vehicle: who sends them, what the agent and its hooks do with them, and whether it is right.
extension History {
    private static let hookNames = ["10-bell", "20-wall", "30-relay"]

    // MARK: The agent

    /// The journal and the hooks of a process that begins; nil and nil in a history without pushes.
    func openAlarms(_ executor: SimulatedCacheDisk, _ process: ProcessLoop) -> (SimulatedAlarms?, SimulatedHooks?) {
        guard profile.hasPushes || fences != nil else { return (nil, nil) }
        var hooks: SimulatedHooks?
        if profile.hasHooks {
            let count = dice.one(in: 6) ? 0 : Int.random(in: 1...Self.hookNames.count, using: &dice)
            hooks = SimulatedHooks(
                names: Array(Self.hookNames.prefix(count)), loop: loop, process: process, seed: dice.next())
            hooks?.mayHang = !isHealed
        }
        guard disk.hasPower else { return (nil, nil) }
        alarms.isRefusing = false
        journalReadRetry = ReadRetryModel(refusals: refusedJournalReads)
        check { () throws(Violation) in
            let (visible, kept) = journalBytes
            if profile.hasPushes {
                try alarms.processStarts(visible, durable: kept, hooks: hooks?.names ?? [], circumstances(nil))
            }
            try fences?.findings.processStarts(visible, durable: kept, hooks: hooks?.names ?? [])
        }
        let journal = AlarmJournal(
            directory: SimulatedStateDisk.directory,
            options: AlarmJournal.Options(limit: profile.journalLimit, retention: profile.alarmRetention),
            fileSystem: disk, now: now)
        openedFenceJournal(journal)
        if disk.hasPower { look(at: journal) }
        return (SimulatedAlarms(journal, executor: executor, disk: disk), hooks)
    }

    /// The journal as a program sees it, and as a power cut leaves it.
    private var journalBytes: (visible: [UInt8]?, kept: [UInt8]?) {
        (disk.contents(of: SimulatedAlarms.path), disk.durableContents(of: SimulatedAlarms.path))
    }

    private func circumstances(_ journal: AlarmJournal?) -> AlarmModel.Circumstances {
        AlarmModel.Circumstances(
            serverTime: serverTime,
            isDiskTroubled: disk.capacity != nil || disk.isReadOnly || !disk.faults.isEmpty,
            hasGivenUp: journal?.hasGivenUp ?? false)
    }

    var refusedJournalReads: Int { disk.refusedReads[SimulatedAlarms.path] ?? 0 }

    private func look(at journal: AlarmJournal) {
        check { () throws(Violation) in
            try journalReadRetry.observe(refusals: refusedJournalReads, hasGivenUp: journal.hasGivenUp, now)
            let (visible, kept) = journalBytes
            if profile.hasPushes {
                try alarms.observe(visible, durable: kept, last: journal.lastNumber, circumstances(journal))
            }
            try lookAtFindings(visible, kept, in: journal)
        }
        guard journal.trouble != nil else { return }
        alarms.refused()
        alarmsRefusedAt = now
    }

    func watchAlarms(_ box: AgentBox) {
        guard let journal = box.alarms else { return }
        journal.onOperation = { [unowned self] journal in look(at: journal) }
        box.agent.onChange = { [unowned self] change in
            guard case .alarm(let report) = change, let id = report.id else { return }
            told(report, UInt64(bitPattern: id))
        }
        box.hooks?.onList = { [unowned self] in
            if profile.hasPushes { alarms.nothingToRun() }
        }
        box.hooks?.onStart = { [unowned self] hook, number, body in
            note("hook \(hook) begins with alarm \(number)")
            check { () throws(Violation) in
                try fences?.findings.hookStarts(hook, alarm: number, key: body ?? "")
                guard fences == nil || alarms.has(number) else { return }
                try alarms.hookStarts(hook, alarm: number, body: body)
            }
        }
        box.hooks?.onEnd = { [unowned self] hook, number in
            note("hook \(hook) ends with alarm \(number)")
            fences?.findings.hookEnds(hook, alarm: number)
            if profile.hasPushes { alarms.hookEnds(hook, alarm: number) }
        }
    }

    /// Whether a push is a message or of a point: not of a fence.
    private func isMessage(_ id: UInt64) -> Bool { fences == nil || alarms.pushes.entries[id] != nil }

    private func told(_ report: AlarmReport, _ id: UInt64) {
        let number = UInt64(clamping: report.number)
        let isMessage = isMessage(id)
        let words = isMessage ? "push" : Self.words(report)
        note("alarm \(report.number) with id \(id) is told: \(words)")
        if report.early == true, box?.isOlder == true {
            fail(Violation(guarantee: .fences, detail: "an older agent tells an early alarm: \(words)"))
        }
        check { () throws(Violation) in
            if isMessage { try alarms.told(id, number: number) }
            try toldOfFence(report, id, words)
        }
    }

    // MARK: The server

    /// By the server's clock.
    private var serverTime: Int64 { trueTime + 2000 }

    func watchPushes(_ frames: FrameChecker) {
        frames.onPush = { [unowned self] id in
            note("the server sends push \(id)")
            fences?.findings.sent(id)
            check { () throws(Violation) in
                if isMessage(id) { try alarms.sent(id) }
            }
        }
        frames.onPushAcknowledgement = { [unowned self] ids in
            note("the agent acknowledges pushes \(ids)")
            check { () throws(Violation) in
                for id in ids {
                    try fences?.findings.acknowledged(id)
                    if isMessage(id) { try alarms.acknowledged(id) }
                }
            }
            if !isHealed, dice.one(in: 8) { loseAcknowledgement() }
        }
    }

    /// On its way, or at a server that has not noted it yet: the push comes once more.
    func loseAcknowledgement() {
        let isServer = dice.one(in: 3)
        after(Int64.random(in: 0...60, using: &dice)) { history in
            guard !history.isHealed else { return }
            if isServer, history.server?.isStopping == false {
                history.stopServerNow(tellingPeers: true)
                history.after(2000) { $0.startServer() }
            }
            for connection in history.network.connections {
                connection.cut(agentBytes: 0, serverBytes: 0, reset: true)
            }
        }
    }

    func watchPushes(_ watch: StoreObserver) {
        watchFences(watch)
        guard profile.hasPushes else { return }
        watch.hasPushes = true
        watch.causing = { [unowned self] batches in batches.map(causing) }
        watch.handOut = { [unowned self] push, entity in
            guard fences == nil || PushModel.isMessage(push.body) else { return fencePush(push, to: entity) }
            var out = push
            check { () throws(Violation) in out = try alarms.pushes.handOut(push, to: entity, at: serverTime) }
            return out
        }
        watch.onSettled = { [unowned self] in alarms.pushes.note($0, at: serverTime) }
        watch.settle = { [unowned self] settlement in
            guard let own = alarms.pushes.inner(settlement.id) else { return fences == nil ? nil : settlement }
            if settlement.outcome == .acknowledged {
                check { () throws(Violation) in try alarms.pushes.settle(settlement.id) }
            }
            return PushSettlement(id: own, outcome: settlement.outcome, time: settlement.time)
        }
    }

    /// One point in so many brings an alarm about.
    private static let pointsForAnAlarm: UInt64 = 97

    private func causing(_ batch: IngestBatch) -> IngestBatch {
        guard let position = batch.position else { return batch }
        var batch = batch
        for sequence in batch.sequences where sequence % Self.pointsForAnAlarm == 7 {
            batch.pushes.append(
                alarms.pushes.caused(
                    by: sequence, of: position.stream, for: batch.entity, lifetime: profile.pushLife,
                    at: batch.received.milliseconds))
        }
        return batch
    }

    /// `former`: the sequence through which the batch's stream was stored before.
    func pushesQueued(with batch: IngestBatch, after former: UInt64) {
        guard !batch.pushes.isEmpty else { return }
        server?.watch.somethingChanged()
        alarms.pushes.stored(batch, after: former, at: now)
    }

    /// Somebody sends some messages, as `saker-server push` does it: past the server, into its store.
    func push() {
        let isBurst = dice.one(in: 3)
        for _ in 0..<Int.random(in: 1...(isBurst ? 30 : 5), using: &dice) {
            after(isBurst ? 0 : Int64.random(in: 0...20_000, using: &dice)) { $0.pushOne() }
        }
    }

    private func pushOne() {
        guard let machine = server, machine.store != nil, let service = ServiceID(rawValue: Self.serviceID),
            let known = store.points.keys.sorted().randomElement(using: &dice)
        else { return }
        let length = dice.one(in: 4) ? Int.random(in: 1000...8000, using: &dice) : Int.random(in: 0...300, using: &dice)
        let lifetime = dice.one(in: 4) ? Int64.random(in: 1000...600_000, using: &dice) : profile.pushLife
        let (serial, push) = alarms.pushes.make(
            type: UInt32.random(in: PushRules.messages, using: &dice), length: length,
            targets: dice.one(in: 5) ? .service : .entities([known]), lifetime: lifetime, at: serverTime)
        note("push \(serial) to \(push.targets), \(length) bytes, for \(lifetime / 1000) s")
        let (executor, medium) = (executor, NIOLoopBound(medium, eventLoop: loop))
        let history = NIOLoopBound(self, eventLoop: loop)
        let watch = NIOLoopBound(machine.watch, eventLoop: loop)
        let time = Timestamp(milliseconds: serverTime)
        Task(executorPreference: executor) {
            await executor.beginOutside()
            let queued = try? await medium.value.current?.queuePush(push, in: service, at: time)
            executor.endOutside()
            // Several messages may find the same power cut.
            guard medium.value.hasPower else { return watch.value.powerFailed() }
            guard queued != nil else { return }
            history.value.alarms.pushes.queued(serial, at: history.value.now)
            history.value.server?.watch.somethingChanged()
        }
    }

    /// As the server's upkeep does.
    func removeOldPushes(_ store: any TrackStore) async {
        guard profile.hasPushes else { return }
        let time = Timestamp(milliseconds: serverTime - profile.pushLife)
        _ = try? await store.removePushes(before: time, limit: 1000)
    }

    // MARK: The end

    /// Pushes for the entity that the agent serves.
    var waitingPushes: [Int] {
        guard profile.hasPushes, let entity = box?.agent.status().service.entity else { return [] }
        return alarms.pushes.waiting(for: entity, at: serverTime)
    }

    var hasWaitingPushes: Bool { !waitingPushes.isEmpty }

    /// Looks with the points: nothing has been wrong since `calm`. What was queued since then, and a while ago, the agent
    /// has, if it was online all the time and takes what comes.
    func checkPushes(calmSince calm: MonotonicTime) {
        guard profile.hasPushes, !alarms.isRefusing, let entity = box?.agent.status().service.entity else { return }
        let since = max(calm, onlineAt, alarmsRefusedAt)
        guard let serial = alarms.pushes.overdue(for: entity, since: since, now, serverTime: serverTime) else { return }
        fail(
            Violation(
                guarantee: .liveness,
                detail: "online and nothing is wrong, and push \(serial) for \(entity) has not come after "
                    + "\(PushModel.timeout / 1000) s"))
    }

    var areAlarmsAtRest: Bool { !profile.hasPushes || alarms.owed == 0 && !hasWaitingPushes }

    /// A session that gave a push up leaves it to the next login; a process that could not read an alarm leaves it to the
    /// next process.
    func settleAlarms() {
        guard profile.hasPushes else { return }
        box?.hooks?.mayHang = false
        after(700_000) { history in
            if history.hasWaitingPushes { _ = history.box?.agent.reconnect() }
        }
        after(3_600_000) { history in
            guard !history.areAlarmsAtRest, let box = history.box, !box.isStopping else { return }
            history.note("the agent is started anew for the alarms that are left")
            history.end(box, how: .kill)
            history.bootAgent()
        }
    }
}
