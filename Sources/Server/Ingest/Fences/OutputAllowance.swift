import ConnectionLimits
import FenceJudging
import TrackModel
import TrackStore

/// How many alarms of an entity are stored and told, and how many messages to other entities they cause. Knows no store and
/// no clock.
///
/// Points cost a sender nothing, and each can make an alarm of every fence. So an entity has so many alarms at once as no
/// vehicle makes, also not one that uploads the track of weeks, and as many an hour as crossing a hundred fences every ten
/// minutes takes, with an enter and an exit each.
package struct OutputAllowance: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Alarms that one batch of points can make.
        package var alarmsOfBatch = 1000
        /// Alarms of an entity at once, and milliseconds until there is room for one more.
        package var alarmsAtOnce = 5000
        package var alarmInterval: Int64 = 3000
        /// Messages to other entities that the alarms of an entity cause at once, and milliseconds until there is room for one
        /// more.
        package var messagesAtOnce = 2000
        package var messageInterval: Int64 = 3000
        /// Entities that have less than their whole allowance; who has not made any for the longest is forgotten.
        package var entities = 100_000

        package init() {}
    }

    /// What was not told of an entity, for the log.
    struct Notice: Hashable {
        let entity: EntityKey
        let alarms: Int
        let messages: Int
    }

    private struct Account {
        var alarms: RateBucket
        var messages: RateBucket
        var untoldAlarms = 0
        var untoldMessages = 0
        /// When the log had a line of it last.
        var noted: Timestamp?
        var last: Timestamp
    }

    /// Milliseconds between two lines of the log about one entity.
    static let noteInterval: Int64 = 600_000

    let limits: Limits
    private var accounts: [EntityKey: Account] = [:]

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    var count: Int { accounts.count }

    /// What the next batch of an entity may bring about. `drawn`: what batches before it take that are not stored yet.
    func budget(of entity: EntityKey, at now: Timestamp, drawn: AlarmBudget?) -> AlarmBudget {
        var (alarms, messages) = (limits.alarmsAtOnce, limits.messagesAtOnce)
        if var account = accounts[entity] {
            account.alarms.pass(to: now)
            account.messages.pass(to: now)
            alarms = account.alarms.room(of: alarms, each: limits.alarmInterval)
            messages = account.messages.room(of: messages, each: limits.messageInterval)
        }
        return AlarmBudget(
            alarms: min(limits.alarmsOfBatch, max(0, alarms - (drawn?.alarms ?? 0))),
            messages: max(0, messages - (drawn?.messages ?? 0)))
    }

    /// A batch of the entity was stored, with so many alarms and messages to others. Returns what the log must say.
    mutating func spend(
        alarms: Int, messages: Int, untoldAlarms: Int, untoldMessages: Int, of entity: EntityKey, at now: Timestamp
    ) -> Notice? {
        if accounts[entity] == nil, accounts.count >= limits.entities { makeRoom(at: now) }
        var account = accounts[entity] ?? Account(alarms: RateBucket(at: now), messages: RateBucket(at: now), last: now)
        account.alarms.pass(to: now)
        account.messages.pass(to: now)
        account.alarms.spend(alarms, each: limits.alarmInterval)
        account.messages.spend(messages, each: limits.messageInterval)
        account.untoldAlarms += untoldAlarms
        account.untoldMessages += untoldMessages
        account.last = now
        let notice = notice(of: entity, &account, at: now)
        accounts[entity] = account
        return notice
    }

    /// What was not told since the last line about each entity, when a line is due. Forgets who has its whole allowance.
    mutating func takeNotices(at now: Timestamp) -> [Notice] {
        guard !accounts.isEmpty else { return [] }
        var notices: [Notice] = []
        for (entity, former) in accounts {
            var account = former
            if let notice = notice(of: entity, &account, at: now) { notices.append(notice) }
            account.alarms.pass(to: now)
            account.messages.pass(to: now)
            let isWhole = account.alarms.isWhole && account.messages.isWhole
            accounts[entity] = isWhole && account.untoldAlarms + account.untoldMessages == 0 ? nil : account
        }
        return notices
    }

    private func notice(of entity: EntityKey, _ account: inout Account, at now: Timestamp) -> Notice? {
        guard account.untoldAlarms + account.untoldMessages > 0 else { return nil }
        if let noted = account.noted, (0..<Self.noteInterval).contains(now.milliseconds(since: noted)) { return nil }
        defer { (account.untoldAlarms, account.untoldMessages, account.noted) = (0, 0, now) }
        return Notice(entity: entity, alarms: account.untoldAlarms, messages: account.untoldMessages)
    }

    /// A tenth at a time, so that a full table does not cost a search with each batch.
    private mutating func makeRoom(at now: Timestamp) {
        let oldest = accounts.sorted { $0.value.last < $1.value.last }.prefix(max(limits.entities / 10, 1))
        for (entity, _) in oldest { accounts[entity] = nil }
    }
}
