internal import AgentControl
internal import AgentLogic
internal import AgentRuntime
internal import AlarmLog
internal import FenceJSON
internal import Geodesy
internal import Geofencing
internal import JSON
internal import NIOCore
internal import TrackModel
internal import TrackTestKit

// The vehicle's own fences, and what the vehicle tells of all fences.
extension History {
    // MARK: A process

    func openFences(_ executor: SimulatedCacheDisk) -> LocalFenceStore? {
        guard fences != nil, disk.hasPower else { return nil }
        let writer = SimulatedFences(executor: executor, disk: disk, memory: memory)
        writer.onRead = { [unowned self] found in
            check { () throws(Violation) in try fences?.own.fileRead(found) }
        }
        let found = LoadedLocalFences(FenceFile(directory: SimulatedStateDisk.directory, files: disk))
        guard disk.hasPower else { return nil }
        let states = fences?.states ?? []
        let standing = witness.content()
        // What the server has is not read again.
        let ring = standing.points.filter { $0.sequence > standing.acknowledged }
        check { () throws(Violation) in
            try fences?.own.processStarts(found, fenceStates: ownFenceStates(states), ring: ring)
        }
        return LocalFenceStore(writer: writer, found: found, states: states)
    }

    func openServerFences(_ executor: SimulatedCacheDisk) -> ServerFenceStore? {
        guard fences != nil, disk.hasPower, older?.isOlder(.agent) != true else { return nil }
        let found = LoadedServerFences(ServerFenceFile(directory: SimulatedStateDisk.directory, files: disk))
        if hasServerJudgedMore { fences?.mayDiffer = true }
        return ServerFenceStore(
            writer: SimulatedServerFences(executor: executor, disk: disk, memory: memory), found: found,
            states: fences?.states ?? [])
    }

    /// A power cut has taken points that the server has: the disk had not synchronised them, nor what followed from them.
    private var hasServerJudgedMore: Bool {
        var known: [String: Int64] = [:]
        for state in fences?.states ?? [] where state.service != nil { known[state.entity] = state.time }
        for point in witness.content().points {
            known[point.entity] = max(known[point.entity] ?? .min, point.fix.time.milliseconds)
        }
        return ledger.entries.contains { $0.isStored && $0.fix.time.milliseconds > known[$0.entity] ?? .min }
    }

    private func ownFenceStates(_ states: [JournalFenceState]) -> [String: EntityFenceState] {
        var fenceStates: [String: EntityFenceState] = [:]
        for state in states where state.service == nil {
            fenceStates[state.entity] = try? EntityFenceState(encoded: state.fenceState)
        }
        return fenceStates
    }

    /// The journal of a process that begins.
    func openedFenceJournal(_ journal: AlarmJournal) {
        guard fences != nil else { return }
        fences?.states = journal.fenceStates
        fences?.isUnread = journal.trouble != nil
        checkFound(journal.fenceStates, isUnread: journal.trouble != nil)
    }

    /// The agent goes on from what the journal remembers.
    private func checkFound(_ states: [JournalFenceState], isUnread: Bool) {
        guard !isUnread, disk.hasPower, let there = fences?.findings.states else { return }
        let found = Set(states.map { "\($0.entity) \($0.service != nil) \($0.time)" })
        let expected = Set(there.map { "\(String(decoding: $0.entity, as: UTF8.self)) \($0.isServers) \($0.time)" })
        guard found != expected else { return }
        fail(
            Violation(
                guarantee: .fences,
                detail: "the journal remembers \(expected.sorted()), and a start finds \(found.sorted())"))
    }

    func lookAtFindings(_ visible: [UInt8]?, _ kept: [UInt8]?, in journal: AlarmJournal) throws(Violation) {
        guard let isUnread = fences?.isUnread else { return }
        let circumstances = FindingModel.Circumstances(hasGivenUp: journal.hasGivenUp, isUnread: isUnread)
        let hasChanged = try fences?.findings.observe(
            visible, durable: kept, last: journal.lastNumber, circumstances)
        guard hasChanged == true, let known = fences?.findings.written, let states = fences?.findings.states else {
            return
        }
        for state in states where !state.isServers {
            try fences?.own.remembered(
                String(decoding: state.entity, as: UTF8.self), through: state.time, with: known)
        }
    }

    static func words(_ report: AlarmReport) -> String {
        let action = report.body["action"]?.stringValue ?? "message"
        return "\(report.early == true ? "early " : report.type == 4 ? "own " : "")alarm \(action) of fence "
            + "\(report.body["fence_id"]?.integerValue ?? 0) by \(report.entity) at \(report.time ?? 0)"
    }

    /// The journal is one, so messages are told here too.
    func toldOfFence(_ report: AlarmReport, _ id: UInt64, _ words: String) throws(Violation) {
        try fences?.findings.told(
            id, number: UInt64(clamping: report.number), type: report.type, isEarly: report.early == true, words)
        if report.type == 4 { try fences?.own.told(id, words, at: now) }
    }

    // MARK: Fixes

    static func options(_ settings: AgentSettings) -> LocationOptions {
        LocationOptions(
            desiredAccuracy: settings.desiredAccuracy, distanceFilter: settings.distanceFilter,
            activity: AgentLogic.TravelActivity(rawValue: settings.activity.rawValue) ?? .other)
    }

    /// Where the vehicle is at this epoch.
    func noteWay(at time: Int64) {
        let place = Degrees(latitude: receiver.latitude, longitude: receiver.longitude)
        fences?.way.note(place, at: time, isReflected: receiver.isReflected)
    }

    /// `points`: those that were made with these fixes.
    func judge(_ fixes: [(fix: Fix, isBack: Bool)], _ points: [ChosenPoint]) {
        for point in points where point.isParked { fences?.way.parked(at: point.fix.time.milliseconds) }
        guard fences != nil, !fixes.isEmpty, let known = fences?.findings.written else { return }
        for (fix, isBack) in fixes {
            fences?.own.fix(fix, isBack: isBack, floor: attributes.floor(at: now), at: now, known: known)
        }
        guard let box, !box.isStopping else { return }
        check { () throws(Violation) in try fences?.own.checkTold(at: now) }
    }

    /// The process is gone.
    func fencesEnd() {
        check { () throws(Violation) in try fences?.own.checkExplained(at: now) }
        fences?.own.processEnds()
    }

    func fencesStart(_ entity: String) {
        guard let known = fences?.findings.written else { return }
        fences?.own.started(entity, at: now, known: known)
    }

    // MARK: Changes

    func beginFences() {
        guard fences != nil else { return }
        after(5000) { $0.changeFences() }
        if fences?.floors != nil { after(7000) { $0.changeFloor() } }
    }

    /// A program on the vehicle says on which floor it is, or that it does not know.
    private func changeFloor() {
        guard let pace = fences?.pace, !isHealed, var dice = fences?.floors else { return }
        after(Int64.random(in: 1...2 * pace, using: &dice)) { $0.changeFloor() }
        // What is given, and which floor it is.
        let values: [(JSONValue, String)] = [
            (1, "1"), ("1", "1"), (.double(2), "2"), ("2", "2"), ("02", "02"), ("", ""),
        ]
        let (given, name) = values[Int.random(in: 0..<values.count, using: &dice)]
        let ttl: Int64? = dice.one(in: 3) ? Int64.random(in: 1...300_000, using: &dice) : nil
        fences?.floors = dice
        guard let box, !box.isStopping else { return }
        note("floor \(given), ttl \(ttl.map(String.init) ?? "none") ms")
        _ = box.agent.setAttributes([AttributeModel.floorKey: given], ttl: ttl.map { .milliseconds($0) })
        attributes.set([AttributeModel.floorKey: .string(name)], expires: ttl.map { now + $0 })
    }

    private func changeFences() {
        guard var world = fences, !isHealed else { return }
        after(Int64.random(in: 1...2 * world.pace, using: &world.dice)) { $0.changeFences() }
        let isOwn = world.hasOwn && (!world.hasServers || world.dice.one(in: 2))
        fences = world
        if isOwn { changeOwnFences() } else { changeServerFences() }
    }

    /// Somebody on the vehicle makes a fence, changes one, or deletes one.
    private func changeOwnFences() {
        guard let box, !box.isStopping, var world = fences, !world.own.isUnreadable else { return }
        let draft = FenceDraft(around: receiver.route ?? world.route, at: trueTime)
        let numbers = world.own.fences.keys.sorted()
        let kind =
            numbers.count >= FenceWorld.most ? 3 : numbers.count < 2 ? 0 : Int.random(in: 0..<4, using: &world.dice)
        let number = numbers.randomElement(using: &world.dice) ?? 0
        world.changes += 1
        switch kind {
        case 0, 1:
            let definition = world.onFloor(
                draft.definition(&world.dice, isLocal: true, among: ServerFenceModel.entities))
            let expected = world.own.nextFence
            let change = world.own.create(definition, at: now)
            fences = world
            note("own fence \(expected) is made")
            answered(box.agent.createFence(definition.json), box, change) { [unowned self] reply in
                guard reply.fenceID != Int64(expected) else { return }
                fail(
                    Violation(
                        guarantee: .fences, detail: "a new fence is \(reply.fenceID), and the next one is \(expected)"))
            }
        case 2:
            guard let old = world.own.fences[number]?.fence.definition else { return }
            let definition = world.onFloor(draft.edited(old, &world.dice, among: ServerFenceModel.entities))
            let change = world.own.update(number, definition, at: now)
            fences = world
            note("own fence \(number) is changed")
            answered(box.agent.updateFence(Int64(number), definition.json), box, change)
        default:
            let change = world.own.delete(number, at: now)
            fences = world
            note("own fence \(number) is deleted")
            answered(box.agent.deleteFences(FenceSelection(fences: [Int64(number)])), box, change)
        }
    }

    private func answered<Reply: DurableReply>(
        _ reply: EventLoopFuture<Reply>, _ box: AgentBox, _ change: Int, then: @escaping (Reply) -> Void = { _ in }
    ) {
        reply.assumeIsolated().whenComplete { [unowned self, weak box] result in
            guard let box, self.box === box else { return }
            switch result {
            case .success(let reply):
                if reply.durable == true { fences?.own.durable(change) }
                then(reply)
            case .failure(let error as AgentControlError) where error.code == .notRemembered:
                note("the fences are not remembered")
            case .failure(let error):
                fail(Violation(guarantee: .fences, detail: "a change of fences is refused: \(error)"))
            }
        }
    }

    // MARK: The end

    func earlyAlarmsAreOverdue() {
        guard !earlyMayDiffer else { return }
        let entity = box?.agent.status().service.entity ?? ""
        let open = fences?.findings.unconfirmedFences(of: entity) ?? []
        guard !open.contains(where: { fences?.serverFenceModel.hasBecomeEveryones($0, for: entity) ?? false }) else {
            return
        }
        fail(
            Violation(
                guarantee: .fences,
                detail:
                    "the server has the points of early alarms of \(entity) for ten minutes and does not confirm them: "
                    + "\(fences?.findings.open(of: entity) ?? [])"))
    }

    func settleFences() {
        guard fences != nil else { return }
        box?.hooks?.mayHang = false
        after(700_000) { history in
            if !history.areFencesAtRest { _ = history.box?.agent.reconnect() }
        }
        after(3_600_000) { history in
            guard !history.areFencesAtRest, let box = history.box, !box.isStopping else { return }
            history.note("the agent is started anew for the alarms that are left")
            history.end(box, how: .kill)
            history.bootAgent()
        }
    }

    /// The server does not get all points that the vehicle has judged, or the vehicle does not judge all that the server gets.
    var earlyMayDiffer: Bool {
        guard let fences else { return false }
        return fences.mayDiffer || ledger.hasDoubts
            || ledger.count {
                switch $0 {
                case .droppedByBound, .droppedInMemory, .lostWithPower, .cleared, .missing: true
                default: false
                }
            } > 0
    }

    var areFencesAtRest: Bool { openFences.isEmpty }

    /// What is still to happen, in words.
    var openFences: String {
        guard let fences, let entity = box?.agent.status().service.entity else { return "" }
        let pushes = fences.serverFenceModel.waiting(for: entity, without: fences.findings.acknowledged)
        let open = fences.findings.open(
            of: entity, withEarly: areReportsTaken || !earlyMayDiffer, withReports: areReportsTaken)
        var words: [String] = []
        if fences.findings.owed > 0 { words.append("hooks are owed to \(fences.findings.owed) alarms") }
        if !pushes.isEmpty { words.append("the pushes \(pushes) of \(entity) are not acknowledged") }
        if !open.isEmpty { words.append("the server has not confirmed \(open.joined(separator: ", "))") }
        return words.joined(separator: "; ")
    }

    func summarizeFences() {
        guard let fences else { return }
        summary.fenced = 1
        summary.floored = fences.floors == nil ? 0 : 1
        summary.pointsOnFloors = ledger.entries.count { $0.isStored && $0.attributes[AttributeModel.floorKey] != nil }
        if earlyMayDiffer {
            summary.weakened[.earlyMayDiffer] = Weakened(histories: 1, points: fences.findings.early.count)
        }
        summary.weakened[.ownUnsure] =
            fences.own.unsureProcesses == 0
            ? nil : Weakened(histories: 1, points: fences.own.unsureProcesses)
        summary.fenceChanges = fences.changes
        summary.ownAlarms = fences.findings.toldLocal
        summary.alarmsBeforeDisk = fences.findings.toldBeforeDurable
        summary.earlyAlarms = fences.findings.toldEarly
        summary.alarmsByPush = fences.findings.toldByPush - alarms.toldCount
        summary.serverAlarms = fences.serverFenceModel.history.count
        summary.alarmsReported = fences.serverFenceModel.reported
        summary.hookRuns = fences.findings.hookRuns
    }
}
