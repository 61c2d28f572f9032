internal import TrackModel
internal import TrackStore

/// A push of one entity: what was asked of the server, and how far it has come.
struct PushEntry {
    let serial: Int
    let entity: String
    let message: Int64
    let type: UInt32
    let body: String
    /// By the server's clock.
    let created: Int64
    var isSent = false
    /// The agent has told the server that it has it.
    var isAcknowledged = false
    /// Programs on the vehicle have heard of it.
    var isTold = false
    var standing = Standing.nowhere
    /// Its number in the journal, as long as it stands there as an alarm.
    var number: UInt64?
    /// Its hooks have ended, all of one process.
    var isDone = false

    enum Standing {
        /// Not in the journal, or not durably when the power went.
        case nowhere
        case journaled
        /// Dropped by the bound; its trace is there.
        case traced
        /// Its time is over, also at the server: it never comes again.
        case expired
        /// The bound of the traces took its trace: it may come once more.
        case forgotten
        /// The disk refused to give it back so often that the journal gave it up.
        case damaged
    }
}

/// What was pushed at the server: the messages, and for each entity the number by which its agent knows one.
///
/// A store makes random numbers. The agent gets others here, which are the same in every run of a seed.
struct PushModel {
    struct Message {
        let push: NewPush
        /// The store has said that it is queued.
        var isQueued = false
        var queuedAt = MonotonicTime.distantPast
        /// The point that brings it about.
        var cause: (stream: StreamID, sequence: UInt64)?
        let expires: Int64
    }

    private struct Row: Hashable {
        let serial: Int
        let entity: String
    }

    private struct Cause: Hashable {
        let stream: StreamID
        let sequence: UInt64
    }

    private let seed: UInt64
    private(set) var messages: [Message] = []
    var entries: [UInt64: PushEntry] = [:]
    private var rows: [Row: UInt64] = [:]
    private var causes: [Cause: Int] = [:]
    private var inner: [UInt64: UInt64] = [:]
    /// When the store said that it has noted their delivery, by the server's clock.
    private var noted: [UInt64: Int64] = [:]
    private(set) var settled = 0

    init(seed: UInt64) {
        self.seed = seed
    }

    // MARK: Queueing

    /// A message that is about to be queued. Its body tells its place in `messages`.
    mutating func make(
        type: UInt32, length: Int, targets: PushTargets, lifetime: Int64, at time: Int64
    ) -> (serial: Int, push: NewPush) {
        let serial = messages.count
        let body = "{\"n\":\(serial),\"text\":\"\(String(repeating: "x", count: length))\"}"
        let push = NewPush(type: type, body: body, targets: targets, lifetime: lifetime)
        messages.append(Message(push: push, expires: time + lifetime))
        return (serial, push)
    }

    mutating func queued(_ serial: Int, at now: MonotonicTime) {
        if !messages[serial].isQueued { messages[serial].queuedAt = now }
        messages[serial].isQueued = true
    }

    /// What a point brings about: one message, however often its batch comes.
    mutating func caused(
        by sequence: UInt64, of stream: StreamID, for entity: String, lifetime: Int64, at time: Int64
    ) -> CausedPush {
        let cause = Cause(stream: stream, sequence: sequence)
        if let known = causes[cause] { return CausedPush(by: sequence, messages[known].push) }
        let (serial, push) = make(
            type: PushRules.fenceAlarm, length: 80, targets: .entities([entity]), lifetime: lifetime, at: time)
        causes[cause] = serial
        messages[serial].cause = (stream, sequence)
        return CausedPush(by: sequence, push)
    }

    /// A batch is stored, and with it what those of its points bring about that come after a sequence. The others are stored
    /// already, or apart, without a stream, because the stream had passed them; such a point brings nothing about here.
    mutating func stored(_ batch: IngestBatch, after former: UInt64, at now: MonotonicTime) {
        guard let stream = batch.position?.stream else { return }
        for case let sequence? in batch.pushes.map(\.sequence) where sequence > former {
            if let serial = causes[Cause(stream: stream, sequence: sequence)] { queued(serial, at: now) }
        }
    }

    // MARK: Delivery

    /// What the store gives a session to send, with the number that the agent will know it by.
    mutating func handOut(_ push: PendingPush, to entity: String, at time: Int64) throws(Violation) -> PendingPush {
        guard let serial = Self.serial(of: push.body), messages.indices.contains(serial),
            messages[serial].push.body == push.body, messages[serial].push.type == push.type,
            Self.isMeant(entity, by: messages[serial].push.targets)
        else { throw broken("the store hands \(entity) a push out that nobody queued for it: \(push.body)") }
        let row = Row(serial: serial, entity: entity)
        let id = rows[row] ?? number(row)
        // In the same moment it may have been asked before.
        guard noted[id].map({ $0 >= time }) ?? true else {
            throw broken("the store hands push \(serial) for \(entity) out, and had noted that it is delivered")
        }
        if let known = entries[id] {
            guard known.message == push.message else {
                throw broken("push \(serial) for \(entity) is queued twice, as \(known.message) and \(push.message)")
            }
        } else {
            rows[row] = id
            entries[id] = PushEntry(
                serial: serial, entity: entity, message: push.message, type: push.type, body: push.body,
                created: push.created.milliseconds)
        }
        inner[id] = push.id
        var out = push
        out.id = id
        return out
    }

    /// The store has answered that this is in it.
    mutating func note(_ settlements: [PushSettlement], at time: Int64) {
        for settlement in settlements where settlement.outcome == .acknowledged {
            noted[settlement.id] = noted[settlement.id] ?? time
        }
    }

    /// The store's own number of a push.
    func inner(_ id: UInt64) -> UInt64? { inner[id] }

    mutating func sent(_ id: UInt64) throws(Violation) {
        guard entries[id] != nil else { throw broken("the server sends a push \(id) that the store never handed out") }
        entries[id]?.isSent = true
    }

    /// The store is to note that an agent has it.
    mutating func settle(_ id: UInt64) throws(Violation) {
        guard entries[id]?.isAcknowledged == true else {
            throw broken("push \(id) counts as delivered at the server, and no agent said so")
        }
        settled += 1
    }

    /// What is queued for this entity, in time, and not at its agent.
    func waiting(for entity: String, at time: Int64) -> [Int] {
        messages.indices.filter { serial in
            let message = messages[serial]
            guard message.isQueued, message.expires > time + 60_000 else { return false }
            let entry = rows[Row(serial: serial, entity: entity)].flatMap { entries[$0] }
            switch message.push.targets {
            case .entities(let names): return names.contains(entity) && entry?.isAcknowledged != true
            // Which entities there were, only the store knows.
            case .service: return entry.map { !$0.isAcknowledged } ?? false
            }
        }
    }

    /// Longer than a push takes that is tried a second time, milliseconds.
    static let timeout: Int64 = 60_000

    /// A message for this entity that was queued since then and ``timeout`` ago, is in time, and is not at its agent.
    func overdue(
        for entity: String, since: MonotonicTime, _ now: MonotonicTime, serverTime time: Int64
    ) -> Int? {
        messages.indices.first { serial in
            let message = messages[serial]
            guard message.isQueued, message.queuedAt > since, now - message.queuedAt > Self.timeout,
                message.expires > time, case .entities(let names) = message.push.targets, names.contains(entity)
            else { return false }
            return rows[Row(serial: serial, entity: entity)].flatMap { entries[$0]?.isAcknowledged } != true
        }
    }

    // MARK: Steps

    /// Whether a push is one of ours, and no alarm of a fence.
    static func isMessage(_ body: String) -> Bool { body.hasPrefix("{\"n\":") }

    static func serial(of body: String) -> Int? {
        Int(body.dropFirst(5).prefix { $0.isNumber })
    }

    private static func isMeant(_ entity: String, by targets: PushTargets) -> Bool {
        switch targets {
        case .service: true
        case .entities(let names): names.contains(entity)
        }
    }

    /// 63 bits that depend on the seed and the push alone.
    private func number(_ row: Row) -> UInt64 {
        var mixed = seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(row.serial)
        for byte in row.entity.utf8 { mixed = (mixed ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return max(1, (mixed ^ (mixed >> 31)) >> 1)
    }

    private func broken(_ detail: String) -> Violation { Violation(guarantee: .alarms, detail: detail) }
}

/// Which hooks ran for which alarms in one process of the agent: each once, one at a time, in the order of the alarms.
struct HookModel {
    private struct Run: Hashable {
        let hook: String
        let alarm: UInt64
    }

    /// The hooks that there are.
    private(set) var names: [String] = []
    private var started: Set<Run> = []
    private var ended: Set<Run> = []
    private var last: [String: UInt64] = [:]
    private var running: [String: UInt64] = [:]
    /// Runs of all processes.
    private(set) var runs = 0

    static let mostRunning = 4

    mutating func processStarts(_ names: [String]) {
        self.names = names
        (started, ended, last, running) = ([], [], [:], [:])
    }

    mutating func starts(_ hook: String, _ alarm: UInt64) throws(Violation) {
        guard started.insert(Run(hook: hook, alarm: alarm)).inserted else {
            throw Violation(guarantee: .hooks, detail: "hook \(hook) runs for alarm \(alarm) twice in one process")
        }
        if let other = running[hook] {
            throw Violation(
                guarantee: .hooks, detail: "hook \(hook) begins with alarm \(alarm) and still runs for \(other)")
        }
        guard alarm > last[hook] ?? 0 else {
            throw Violation(
                guarantee: .hooks, detail: "hook \(hook) runs for alarm \(alarm) after alarm \(last[hook] ?? 0)")
        }
        guard running.count < Self.mostRunning else {
            throw Violation(guarantee: .boundedMemory, detail: "\(running.count + 1) hooks run at a time")
        }
        (last[hook], running[hook]) = (alarm, alarm)
        runs += 1
    }

    /// True when it was the last hook of the alarm.
    mutating func ends(_ hook: String, _ alarm: UInt64) -> Bool {
        running[hook] = nil
        ended.insert(Run(hook: hook, alarm: alarm))
        return names.allSatisfy { ended.contains(Run(hook: $0, alarm: alarm)) }
    }
}
