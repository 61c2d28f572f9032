internal import TrackStore

/// What must become of the pushes that reach the vehicle: each stands in the alarm journal once, durably before the server
/// hears of it, until a bound that was reached takes it; and what hooks are owed for it.
///
/// Looks at the journal's bytes alone, those that a program sees and those that a power cut cannot take.
struct AlarmModel {
    /// Bytes of the journal.
    let limit: Int
    /// Milliseconds by the server's clock after which an alarm is dropped.
    let retention: Int64
    let areHooksRun: Bool
    /// Alarms of fences are in the same journal: ``FindingModel`` looks after them.
    let isShared: Bool
    var pushes: PushModel

    /// What is true of the disk while an operation is judged.
    struct Circumstances {
        /// By the server's clock, milliseconds since 1970.
        var serverTime: Int64
        /// The disk refuses something now, or is full.
        var isDiskTroubled: Bool
        /// The journal gave up what it could not read.
        var hasGivenUp: Bool
    }

    private var file: AlarmFile?
    /// The newest alarm that the journal knew when its file was looked at.
    private var newest: UInt64 = 0
    /// Numbers of the pushes that no power cut can take any more.
    private var durable: Set<UInt64> = []
    /// Of these, those whose hooks have durably ended.
    private var durablyDone: Set<UInt64> = []
    /// The number of the last alarm that programs heard of.
    private var lastTold: UInt64 = 0
    /// Messages that come in the order of their numbers: the operator's go before those that vehicles cause.
    private struct Order: Hashable {
        let entity: String
        let isFirst: Bool
    }

    /// The last message that is in the journal.
    private var lastMessages: [Order: Int64] = [:]
    /// Messages up to this one may have been refused when they came: the order is lost.
    private var mayBeUnordered: Int64 = 0
    var hooks = HookModel()
    private(set) var journaled = 0
    private(set) var dropped = 0
    private(set) var toldCount = 0

    init(seed: UInt64, limit: Int, retention: Int64, areHooksRun: Bool, isShared: Bool = false) {
        (self.limit, self.retention, self.areHooksRun) = (limit, retention, areHooksRun)
        self.isShared = isShared
        pushes = PushModel(seed: seed)
    }

    // MARK: The journal

    /// After an operation of the journal: its file as a program sees it, and as a power cut leaves it at least. `last`: the
    /// number of the newest alarm that the journal took.
    mutating func observe(
        _ visible: [UInt8]?, durable kept: [UInt8]?, last: UInt64, _ now: Circumstances
    ) throws(Violation) {
        // A journal that is not read yet knows no number. Bytes that an append left behind may become its alarm.
        if visible != file?.bytes || last > 0 && last != newest {
            try look(at: visible, last: last, now, isStart: false)
        }
        note(durable: kept)
    }

    /// A new process begins: what it finds, before it has touched it.
    mutating func processStarts(
        _ visible: [UInt8]?, durable kept: [UInt8]?, hooks names: [String], _ now: Circumstances
    ) throws(Violation) {
        hooks.processStarts(names)
        try look(at: visible, last: .max, now, isStart: true)
        note(durable: kept)
        for (id, entry) in pushes.entries.sorted(by: { $0.key < $1.key })
        where entry.isAcknowledged && (entry.standing == .nowhere) {
            throw broken(.alarms, "after a start \(name(id)), which the server knows as delivered, is gone")
        }
    }

    /// Another disk is there, and nothing is on it.
    mutating func diskReplaced() {
        for (id, entry) in pushes.entries where entry.standing != .nowhere || entry.isAcknowledged {
            lose(id, .damaged)
        }
        (file, durable, durablyDone, lastTold) = (nil, [], [], 0)
        mayBeUnordered = .max
    }

    private func read(_ bytes: [UInt8]) -> AlarmFile? {
        var file = AlarmFile(bytes)
        if isShared { file?.keep { pushes.entries[$0] != nil } }
        return file
    }

    private mutating func look(
        at visible: [UInt8]?, last: UInt64, _ now: Circumstances, isStart: Bool
    ) throws(Violation) {
        var found = visible.flatMap(read)
        found?.leaveOut(after: last)
        newest = last
        if found == nil, visible?.isEmpty == false {
            throw broken(.alarms, "the alarm journal has no sound header")
        }
        let former = file
        file = found
        let alarms = found?.alarms ?? []
        let before = former?.bytes.count ?? 0
        if alarms.count > 1 {
            for (left, right) in zip(alarms, alarms.dropFirst()) where left.number >= right.number {
                throw broken(.alarms, "alarm \(right.number) stands behind \(left.number) in the journal")
            }
        }
        let size = visible?.count ?? 0
        guard size <= 2 * limit else {
            throw broken(.boundedMemory, "the alarm journal has \(size) bytes, and its limit is \(limit)")
        }
        // Numbers begin anew in a new file.
        let known = Dictionary(uniqueKeysWithValues: (former?.alarms ?? []).map { ($0.number, $0.id) })
        let isNew = alarms.filter { known[$0.number] != $0.id }
        if !isStart, size > limit, size > before, !isNew.isEmpty, !now.isDiskTroubled {
            throw broken(.boundedMemory, "an alarm made the journal \(size) bytes long; its limit is \(limit)")
        }
        if now.hasGivenUp {
            // A file that is made anew begins with number 1, and a server that hears nothing sends again.
            (lastTold, mayBeUnordered) = (0, .max)
        }
        let mayTrace = before + (isShared ? FindingModel.mostRecordBytes : Self.mostRecordBytes) > limit
        try gone(former, found, now, mayTrace: mayTrace, isStart: isStart)
        for alarm in isNew { try appeared(alarm, in: found, isStart: isStart) }
        try compareOwed(alarms)
    }

    /// Of the longest push here, and of its record.
    private static let mostRecordBytes = 8192 + 256

    private mutating func appeared(
        _ alarm: AlarmFile.Alarm, in found: AlarmFile?, isStart: Bool
    ) throws(Violation) {
        guard let found, let entry = pushes.entries[alarm.id], entry.isSent else {
            throw broken(.alarms, "alarm \(alarm.number) is of push \(alarm.id), which nobody sent")
        }
        guard found.bytes[alarm.content].elementsEqual(entry.body.utf8), alarm.type == entry.type,
            found.bytes[alarm.entity].elementsEqual(entry.entity.utf8), alarm.time == entry.created
        else { throw broken(.alarms, "alarm \(alarm.number) is not what was pushed as \(name(alarm.id))") }
        switch entry.standing {
        case .nowhere, .forgotten, .damaged: break
        // A power cut may bring the file of before back.
        case .journaled, .traced, .expired:
            guard isStart else { throw broken(.alarms, "\(name(alarm.id)) is in the journal once more") }
        }
        if !isStart {
            guard alarm.number > lastTold else {
                throw broken(.alarms, "number \(alarm.number) is used again; \(lastTold) was told")
            }
            guard alarm.isOwed == areHooksRun else {
                throw broken(.hooks, "the journal owes hooks to \(name(alarm.id)): \(alarm.isOwed)")
            }
            journaled += 1
            let order = Order(entity: entry.entity, isFirst: PushRules.isFirst(entry.type))
            let last = lastMessages[order] ?? 0
            guard entry.message > last || entry.message <= mayBeUnordered || entry.standing != .nowhere else {
                throw broken(.alarms, "\(name(alarm.id)) came behind a later message of its entity")
            }
            lastMessages[order] = max(last, entry.message)
        }
        if entry.standing == .forgotten || entry.standing == .damaged { pushes.entries[alarm.id]?.isDone = false }
        pushes.entries[alarm.id]?.standing = .journaled
        pushes.entries[alarm.id]?.number = alarm.number
    }

    /// What the journal says of hooks that have ended, and what is true.
    private func compareOwed(_ alarms: [AlarmFile.Alarm]) throws(Violation) {
        guard areHooksRun else { return }
        for alarm in alarms {
            guard let entry = pushes.entries[alarm.id] else { continue }
            if !alarm.isOwed, !entry.isDone {
                throw broken(.hooks, "hooks are owed to \(name(alarm.id)) no more, and they have not ended")
            }
            guard alarm.isOwed, durablyDone.contains(alarm.id) else { continue }
            throw broken(.hooks, "hooks are owed to \(name(alarm.id)) again, and their end was durable")
        }
    }

    /// What was there and is there no more.
    private mutating func gone(
        _ former: AlarmFile?, _ found: AlarmFile?, _ now: Circumstances, mayTrace: Bool, isStart: Bool
    ) throws(Violation) {
        let alarms = Set(found?.alarms.map(\.id) ?? [])
        let traces = Set(found?.traces.map(\.id) ?? [])
        let oldest = now.serverTime - retention
        for alarm in former?.alarms ?? [] where !alarms.contains(alarm.id) {
            if traces.contains(alarm.id) {
                guard mayTrace || now.hasGivenUp else {
                    throw broken(.alarms, "\(name(alarm.id)) was dropped, and the bound was not reached")
                }
                // An end of hooks that was not written yet may be in the new file.
                guard !alarm.isOwed || !areHooksRun || pushes.entries[alarm.id]?.isDone == true || now.hasGivenUp else {
                    throw broken(.hooks, "the bound dropped \(name(alarm.id)), whose hooks are owed")
                }
                pushes.entries[alarm.id]?.standing = .traced
                pushes.entries[alarm.id]?.number = nil
                dropped += 1
            } else if alarm.time < oldest {
                guard !alarm.isOwed || !areHooksRun || pushes.entries[alarm.id]?.isDone == true else {
                    throw broken(.hooks, "time dropped \(name(alarm.id)), whose hooks are owed")
                }
                lose(alarm.id, .expired)
            } else if isStart, !durable.contains(alarm.id) {
                lose(alarm.id, .nowhere)
                mayBeUnordered = max(mayBeUnordered, pushes.entries[alarm.id]?.message ?? 0)
            } else if now.hasGivenUp {
                lose(alarm.id, .damaged)
            } else if fullOfTraces(found) {
                // Traced, and its trace dropped at once.
                lose(alarm.id, .forgotten)
            } else {
                throw broken(.alarms, "\(name(alarm.id)) is gone from the journal without a trace")
            }
        }
        for trace in former?.traces ?? [] where !traces.contains(trace.id) && !alarms.contains(trace.id) {
            guard trace.time < oldest || fullOfTraces(found) || now.hasGivenUp || isStart && !durable.contains(trace.id)
            else { throw broken(.alarms, "the trace of \(name(trace.id)) is gone") }
            lose(trace.id, now.hasGivenUp ? .damaged : trace.time < oldest ? .expired : .forgotten)
        }
        for trace in found?.traces ?? [] where pushes.entries[trace.id]?.standing != .traced {
            guard isStart else { throw broken(.alarms, "\(name(trace.id)) has a trace and was never there") }
            pushes.entries[trace.id]?.standing = .traced
        }
    }

    /// The oldest traces go at a quarter of the bound.
    private func fullOfTraces(_ found: AlarmFile?) -> Bool {
        ((found.map { $0.traces.count + $0.otherTraces } ?? 0) + 1) * 48 > limit / 4
    }

    /// It may come once more, as a new one.
    private mutating func lose(_ id: UInt64, _ standing: PushEntry.Standing) {
        pushes.entries[id]?.standing = standing
        pushes.entries[id]?.number = nil
        pushes.entries[id]?.isTold = false
        durablyDone.remove(id)
    }

    private mutating func note(durable kept: [UInt8]?) {
        let found = kept == file?.bytes ? file : kept.flatMap(read)
        durable = Set((found?.alarms.map(\.id) ?? []) + (found?.traces.map(\.id) ?? []))
        guard areHooksRun else { return }
        // What stands in the file of before only may come back as it was.
        for alarm in found?.alarms ?? [] where !alarm.isOwed && pushes.entries[alarm.id]?.number == alarm.number {
            durablyDone.insert(alarm.id)
        }
    }

    // MARK: What the agent says

    /// The server is told that the agent has it.
    mutating func acknowledged(_ id: UInt64) throws(Violation) {
        guard pushes.entries[id]?.isSent == true else {
            throw broken(.alarms, "the agent acknowledges push \(id), which nobody sent")
        }
        guard durable.contains(id) else {
            throw broken(.alarms, "the agent acknowledges \(name(id)), which a power cut can still take")
        }
        pushes.entries[id]?.isAcknowledged = true
    }

    /// Programs on the vehicle hear of it.
    mutating func told(_ id: UInt64, number: UInt64) throws(Violation) {
        guard let entry = pushes.entries[id], entry.number == number, durable.contains(id) else {
            throw broken(.alarms, "\(name(id)) is told as alarm \(number), which is not durable in the journal")
        }
        guard !entry.isTold, number > lastTold else {
            throw broken(.alarms, "\(name(id)) is told as alarm \(number) after \(lastTold): twice, or out of order")
        }
        lastTold = number
        toldCount += 1
        pushes.entries[id]?.isTold = true
    }

    /// The agent does not keep what comes.
    var isRefusing = false

    /// The server sends a push to the vehicle.
    mutating func sent(_ id: UInt64) throws(Violation) {
        try pushes.sent(id)
        if isRefusing { refused() }
    }

    /// The agent could not keep what came: later messages may overtake it.
    mutating func refused() {
        mayBeUnordered = max(mayBeUnordered, pushes.entries.values.map(\.message).max() ?? 0)
    }

    // MARK: Hooks

    /// Whether the journal has a push of this number.
    func has(_ number: UInt64) -> Bool { file?.alarms.contains { $0.number == number } ?? false }

    /// A hook begins with an alarm.
    mutating func hookStarts(_ hook: String, alarm number: UInt64, body: String?) throws(Violation) {
        guard let alarm = file?.alarms.first(where: { $0.number == number }), let entry = pushes.entries[alarm.id],
            body == nil || body == entry.body
        else { throw broken(.hooks, "a hook runs for alarm \(number), which is not in the journal as it is told") }
        guard alarm.isOwed, !durablyDone.contains(alarm.id) else {
            throw broken(.hooks, "a hook runs for \(name(alarm.id)) once more, although its end is in the journal")
        }
        try hooks.starts(hook, number)
    }

    /// A hook has come to its end, well or not.
    mutating func hookEnds(_ hook: String, alarm number: UInt64) {
        guard hooks.ends(hook, number) else { return }
        done(number)
    }

    /// There is no hook in this process: listing is all there is to do.
    mutating func nothingToRun() {
        guard hooks.names.isEmpty else { return }
        for alarm in file?.alarms ?? [] where alarm.isOwed { done(alarm.number) }
    }

    private mutating func done(_ number: UInt64) {
        guard let alarm = file?.alarms.first(where: { $0.number == number }) else { return }
        pushes.entries[alarm.id]?.isDone = true
    }

    var owed: Int { areHooksRun ? file?.alarms.count { $0.isOwed } ?? 0 : 0 }

    // MARK: Words

    private func name(_ id: UInt64) -> String {
        guard let entry = pushes.entries[id] else { return "push \(id)" }
        return "push \(entry.serial) for \(entry.entity) (message \(entry.message))"
    }

    private func broken(_ guarantee: Violation.Guarantee, _ detail: String) -> Violation {
        Violation(guarantee: guarantee, detail: detail)
    }
}
