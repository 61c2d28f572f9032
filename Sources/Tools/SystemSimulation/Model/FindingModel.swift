/// What must become of the alarms that the vehicle has found and of the pushes of fences that reach it: each is told once, with
/// or before its place in the journal, and an alarm and the memory that follows from it stand there together.
///
/// Looks at the journal's bytes alone, those that a program sees and those that a power cut cannot take.
struct FindingModel {
    /// Bytes of the journal.
    let limit: Int
    let areHooksRun: Bool

    /// What is true of the disk while an operation is judged.
    struct Circumstances {
        /// The journal gave up what it could not read.
        var hasGivenUp = false
        /// The journal could not be read when the process began, so the agent does not know what it has told.
        var isUnread = false
    }

    private struct Entry {
        /// Programs have heard of it as a durable alarm.
        var isToldDurably = false
        /// Of the process that told it last.
        var toldIn = 0
    }

    private var file: AlarmFile?
    /// Everything that stands in the file, traces and failed writes too.
    private(set) var written: Set<UInt64> = []
    private var newest: UInt64 = 0
    /// The bytes that `durable`, `durableTraces` and `durablyEnded` were read from.
    private var noted: [UInt8]?
    private var durable: [UInt64: AlarmFile.Alarm] = [:]
    private var durableTraces: Set<UInt64> = []
    private var durablyEnded: Set<UInt64> = []
    private var entries: [UInt64: Entry] = [:]
    /// Their traces went, the oldest first, at the bound of all traces: the journal does not know these any more.
    private var forgotten: Set<UInt64> = []
    private var lastTold: UInt64 = 0
    private var process = 0
    private var hooksHeard: Set<String> = []
    private var hooks = HookModel()
    private var hasGivenUp = false
    private var isUnread = false
    /// Pushes that the server has sent.
    private var sent: Set<UInt64> = []
    /// Pushes that the agent has acknowledged.
    private(set) var acknowledged: Set<UInt64> = []
    /// Early alarms that ever stood in the journal durably, with their entities.
    private(set) var early: [UInt64: String] = [:]
    private(set) var toldEarly = 0
    private(set) var toldLocal = 0
    private(set) var toldBeforeDurable = 0
    private(set) var toldByPush = 0

    init(limit: Int, areHooksRun: Bool) {
        (self.limit, self.areHooksRun) = (limit, areHooksRun)
    }

    // MARK: The journal

    /// Everything that the disk had is gone. What the server and programs have heard is not.
    mutating func diskReplaced() {
        let old = self
        self = FindingModel(limit: limit, areHooksRun: areHooksRun)
        (process, acknowledged, early, sent) = (old.process, old.acknowledged, old.early, old.sent)
        (toldEarly, toldLocal, toldBeforeDurable, toldByPush) =
            (old.toldEarly, old.toldLocal, old.toldBeforeDurable, old.toldByPush)
    }

    mutating func processStarts(
        _ visible: [UInt8]?, durable kept: [UInt8]?, hooks names: [String]
    ) throws(Violation) {
        process += 1
        hooks.processStarts(names)
        (hooksHeard, hasGivenUp, isUnread) = ([], false, false)
        try look(at: visible, last: .max, isStart: true)
        note(durable: kept)
    }

    /// After an operation of the journal: its file as a program sees it, and as a power cut leaves it at least. `last`: the
    /// number of the newest alarm that the journal took. True: the file has changed.
    @discardableResult
    mutating func observe(
        _ visible: [UInt8]?, durable kept: [UInt8]?, last: UInt64, _ now: Circumstances
    ) throws(Violation) -> Bool {
        (hasGivenUp, isUnread) = (now.hasGivenUp, now.isUnread)
        let hasChanged = visible != file?.bytes || last > 0 && last != newest
        if hasChanged { try look(at: visible, last: last, isStart: false) }
        note(durable: kept)
        return hasChanged
    }

    private mutating func look(at visible: [UInt8]?, last: UInt64, isStart: Bool) throws(Violation) {
        var found = visible.flatMap(AlarmFile.init)
        written = Set(
            (found?.findings ?? []).map(\.id) + (found?.alarms ?? []).map(\.id) + (found?.traces ?? []).map(\.id))
        found?.leaveOut(after: last)
        newest = last
        guard found != nil || visible?.isEmpty ?? true else { throw broken("the alarm journal has no sound header") }
        let former = file
        file = found
        guard let found else { return }
        var numbers: [UInt64: UInt64] = [:]
        for alarm in found.findings + found.alarms + found.traces.map(Self.alarm) {
            if let other = numbers[alarm.id], other != alarm.number {
                throw broken("\(name(alarm)) stands in the journal as number \(other) too")
            }
            numbers[alarm.id] = alarm.number
        }
        if let stranger = found.alarms.first(where: { !sent.contains($0.id) }) {
            throw broken("\(name(stranger)) is in the journal, and the server never sent it")
        }
        try checkMemories(found)
        guard let former, !hasGivenUp else { return }
        let oldestTrace = found.traces.map(\.number).min() ?? .max
        for alarm in former.findings + former.alarms + former.traces.map(Self.alarm) where numbers[alarm.id] == nil {
            if isStart, durable[alarm.id] == nil, !durableTraces.contains(alarm.id) { continue }
            guard fullOfTraces(found), alarm.number < oldestTrace else {
                file = former
                throw broken("\(name(alarm)) is gone from the journal without a trace")
            }
            forgotten.insert(alarm.id)
        }
        let isNewTrace = found.traces.contains { trace in !former.traces.contains { $0.id == trace.id } }
        if isNewTrace, former.bytes.count + Self.mostRecordBytes < limit {
            throw broken("an alarm was dropped, and the journal has \(former.bytes.count) of \(limit) bytes")
        }
    }

    /// Of a verdict with many alarms.
    static let mostRecordBytes = 40_000

    /// The oldest traces go at a quarter of the bound.
    private func fullOfTraces(_ found: AlarmFile) -> Bool { (found.traces.count + 1) * 48 > limit / 4 }

    private static func alarm(_ trace: AlarmFile.Trace) -> AlarmFile.Alarm {
        AlarmFile.Alarm(
            number: trace.number, id: trace.id, type: 0, time: trace.time, isOwed: false, entity: 0..<0, content: 0..<0)
    }

    /// Whoever finds the alarm finds what follows from it.
    private func checkMemories(_ file: AlarmFile) throws(Violation) {
        for alarm in file.findings {
            guard let finding = alarm.finding else { continue }
            let state = file.states.first {
                $0.isServers == finding.isEarly && file.bytes[alarm.entity].elementsEqual($0.entity)
            }
            guard let state, state.time >= alarm.time else {
                throw broken(
                    "the journal has \(name(alarm)) of \(alarm.time), and remembers its entity at "
                        + "\(state.map { "\($0.time)" } ?? "no time")")
            }
        }
    }

    private mutating func note(durable kept: [UInt8]?) {
        guard kept != noted || kept == nil else { return }
        noted = kept
        let found = kept == file?.bytes ? file : kept.flatMap(AlarmFile.init)
        durable = [:]
        for alarm in (found?.findings ?? []) + (found?.alarms ?? []) { durable[alarm.id] = alarm }
        for alarm in found?.findings ?? [] where alarm.finding?.isEarly == true && early[alarm.id] == nil {
            early[alarm.id] = found?.text(alarm.entity)
        }
        durableTraces = Set(found?.traces.map(\.id) ?? [])
        durablyEnded.formUnion(found?.ended ?? [])
        for alarm in durable.values where !alarm.isOwed { durablyEnded.insert(alarm.number) }
    }

    var states: [AlarmFile.State] { file?.states ?? [] }

    // MARK: What the agent says

    /// Programs on the vehicle hear of an alarm. `number`: 0 when it is not durable.
    mutating func told(_ id: UInt64, number: UInt64, type: Int64, isEarly: Bool, _ words: String) throws(Violation) {
        var entry = entries[id] ?? Entry()
        let isForgotten = forgotten.contains(id)
        guard entry.toldIn != process || isForgotten else { throw broken("\(words) is told twice in one process") }
        guard !entry.isToldDurably || hasGivenUp || isUnread || isForgotten else {
            throw broken("\(words) is told again, and it was told as durable before")
        }
        if number > 0 {
            guard durable[id]?.number == number else {
                throw broken("\(words) is told as alarm \(number), which is not durable in the journal")
            }
            guard number > lastTold || hasGivenUp else {
                throw broken("\(words) is told as alarm \(number), after \(lastTold)")
            }
            lastTold = number
            entry.isToldDurably = true
            forgotten.remove(id)
        } else {
            toldBeforeDurable += 1
        }
        entry.toldIn = process
        entries[id] = entry
        if type == 4 { toldLocal += 1 } else if isEarly { toldEarly += 1 } else { toldByPush += 1 }
    }

    /// The server sends a push to the vehicle.
    mutating func sent(_ id: UInt64) { sent.insert(id) }

    /// The server is told that the agent has a push.
    mutating func acknowledged(_ id: UInt64) throws(Violation) {
        guard durable[id] != nil || durableTraces.contains(id) else {
            throw broken("the agent acknowledges push \(id), which a power cut can still take")
        }
        if let finding = durable[id]?.finding, finding.isEarly, !finding.isConfirmed {
            throw broken("the agent acknowledges the push of early alarm \(id), and a power cut forgets that it came")
        }
        acknowledged.insert(id)
    }

    /// The server has forgotten later acknowledgements, and sends these pushes again.
    mutating func serverRestored(_ kept: Set<UInt64>) { acknowledged = kept }

    // MARK: Hooks

    /// A hook begins. `number`: 0 for an alarm that is not durable; then `key` tells which.
    mutating func hookStarts(_ hook: String, alarm number: UInt64, key: String) throws(Violation) {
        guard number > 0 else {
            guard hooksHeard.insert("\(hook) \(key)").inserted else {
                throw Violation(guarantee: .hooks, detail: "hook \(hook) runs twice for alarm \(key) in one process")
            }
            return
        }
        let alarm = ((file?.findings ?? []) + (file?.alarms ?? [])).first { $0.number == number }
        guard let alarm, alarm.isOwed, !durablyEnded.contains(number) else {
            throw Violation(
                guarantee: .hooks,
                detail: "hook \(hook) runs for alarm \(number), to which the journal owes none")
        }
        try hooks.starts(hook, number)
    }

    mutating func hookEnds(_ hook: String, alarm number: UInt64) {
        if number > 0 { _ = hooks.ends(hook, number) }
    }

    var hookRuns: Int { hooks.runs }

    // MARK: The end

    /// Alarms to which hooks are owed.
    var owed: Int { areHooksRun ? ((file?.findings ?? []) + (file?.alarms ?? [])).count { $0.isOwed } : 0 }

    /// What the server has not answered yet, of an entity. `withEarly`: also the early alarms that it has not confirmed.
    /// `withReports`: also what it is to be told of.
    func open(of entity: String, withEarly: Bool = true, withReports: Bool = true) -> [String] {
        guard let file else { return [] }
        return file.findings.filter { alarm in
            guard let finding = alarm.finding, file.text(alarm.entity) == entity else { return false }
            return withReports && finding.report == 1
                || withEarly && finding.isEarly && finding.report == 0 && !finding.isConfirmed
        }.map(name)
    }

    /// The server fences of early alarms that it has not confirmed.
    func unconfirmedFences(of entity: String) -> Set<Int32> {
        guard let file else { return [] }
        return Set(
            file.findings.compactMap { alarm in
                guard let finding = alarm.finding, file.text(alarm.entity) == entity else { return nil }
                return finding.isEarly && finding.report == 0 && !finding.isConfirmed ? finding.fence : nil
            })
    }

    /// Alarms that the server will never take.
    var refusedReports: [String] { (file?.findings ?? []).filter { $0.finding?.report == 3 }.map(name) }

    private func name(_ alarm: AlarmFile.Alarm) -> String {
        let kind = alarm.finding.map {
            $0.isEarly ? "early alarm of fence \($0.fence)" : "alarm of own fence \($0.fence)"
        }
        return "\(kind ?? "the push") \(alarm.id) (number \(alarm.number))"
    }

    private func broken(_ detail: String) -> Violation { Violation(guarantee: .fences, detail: detail) }
}
