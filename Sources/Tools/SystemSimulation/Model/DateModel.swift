/// Which times the fixes of a receiver must get: the rules about dates once more, written down from their description.
struct DateModel {
    /// What the clocks say when a report comes: milliseconds of the monotonic clock, and of the system clock since 1970.
    struct Clocks {
        var now: Int64
        var system: Int64
        var isKept: Bool
    }

    enum Judgement: Equatable {
        /// `isBack`: everything begins anew.
        case used(time: Int64, isClocks: Bool, isBack: Bool)
        case passed
    }

    private struct Doubt {
        let time: Int64
        let now: Int64
        var line: Int64 { time - now }
    }

    /// Dates of about one line, and for how long they came.
    private struct Group {
        var line: Int64
        var first: Int64
        var last: Int64
        var weight: Int64
        var newestArrival: Int64
    }

    /// The one that is believed is the last.
    private var groups: [Group] = []
    /// Fixes that were not used, since the last one that was.
    private var doubted: [Doubt] = []
    /// Time less monotonic clock, as believed; nil: nothing is.
    private var line: Int64?
    /// When it was believed first.
    private var lineBegan = Int64.min
    /// The clock said the same as the receiver.
    private var isVouched = false
    /// The newest point of the process before, or the newest date since.
    private(set) var newest: Int64?
    private var before: Int64?
    /// The system clock less the monotonic one, when it was kept last.
    private var kept: Int64?
    private(set) var disproved: [ClosedRange<Int64>] = []

    init(newest: Int64? = nil) {
        (self.newest, before) = (newest, newest)
    }

    mutating func takeDisproved() -> [ClosedRange<Int64>] {
        defer { disproved = [] }
        return disproved
    }

    mutating func judge(_ time: Int64, _ clocks: Clocks) -> Judgement {
        let now = clocks.now
        if clocks.isKept { kept = clocks.system - now }
        var clock: Int64?
        if let offset = kept {
            if abs(clocks.system - now - offset) <= 30_000 { clock = clocks.system } else { kept = nil }
        }
        let isLineVouchedAgainstClock = isVouched && (clock.map { !near(now + (line ?? 0), $0) } ?? false)
        if let clock, !near(time, clock), !isLineVouchedAgainstClock {
            (line, lineBegan, isVouched, doubted) = (clock - now, .min, false, [])
            return use(clock, now, isClocks: true, isSure: true)
        }
        if let clock, near(time, clock) {
            guard let line, near(now + line, clock) else {
                (self.line, lineBegan, isVouched, doubted) = (time - now, now, true, [])
                return use(time, now, isClocks: false, isSure: true)
            }
            let judgement = alone(time, now)
            if judgement != .passed { isVouched = true }
            return judgement
        }
        return alone(time, now)
    }

    private func near(_ left: Int64, _ right: Int64) -> Bool { abs(left - right) <= 600_000 }

    /// Without the help of the system clock.
    private mutating func alone(_ time: Int64, _ now: Int64) -> Judgement {
        guard let line else {
            if let newest, newest - time > 30_000, newest - time <= 600_000, !isContinued(time, now) { return .passed }
            return believe(time, now)
        }
        // A minute makes a line of the fifteen years from then the better one.
        let isOld = lineBegan == .min || now - lineBegan >= 60_000
        let isToday = (1_795_219_200_000..<2_269_555_200_000).contains(now + line)
        if time < 1_795_219_200_000, isToday, isOld || isVouched {
            return use(now + line, now, isClocks: true, isSure: isVouched)
        }
        let deviation = time - now - line
        if deviation > 600_000 { return isContinued(time, now) ? believe(time, now) : .passed }
        if deviation >= -30_000 {
            doubted = []
            if deviation > -5000 { self.line = time - now }
            return use(time, now, isClocks: false, isSure: isVouched)
        }
        if isContinued(time, now) { return believe(time, now) }
        if let newest, time <= newest { return .passed }
        return use(time, now, isClocks: false, isSure: isVouched)
    }

    private mutating func believe(_ time: Int64, _ now: Int64) -> Judgement {
        (line, lineBegan, isVouched, doubted) = (time - now, now, false, [])
        return use(time, now, isClocks: false, isSure: false)
    }

    /// Three in a row over four seconds, whose times and arrivals go on together; or five over four seconds by their times, each at
    /// most a minute after the one before.
    private mutating func isContinued(_ time: Int64, _ now: Int64) -> Bool {
        let next = Doubt(time: time, now: now)
        let row = doubted + [next]
        let isSteady = row.allSatisfy { abs($0.line - row[0].line) <= 5000 }
        let isClose = zip(row, row.dropFirst()).allSatisfy { $1.time - $0.time <= 60_000 }
        guard let last = doubted.last, time > last.time, isSteady || isClose else {
            doubted = [next]
            return false
        }
        doubted = row
        return isSteady && row.count >= 3 && now - row[0].now >= 4000
            || isClose && row.count >= 5 && time - row[0].time >= 4000
    }

    private mutating func use(_ time: Int64, _ now: Int64, isClocks: Bool, isSure: Bool) -> Judgement {
        let isBack = newest.map { $0 - time > 30_000 } ?? false
        newest = isBack ? time : max(newest ?? time, time)
        note(time, line ?? 0, now)
        find(time, isSure: isSure)
        return .used(time: time, isClocks: isClocks, isBack: isBack)
    }

    private mutating func note(_ time: Int64, _ line: Int64, _ now: Int64) {
        guard let place = groups.lastIndex(where: { near($0.line, line) }) else {
            return groups.append(Group(line: line, first: time, last: time, weight: 0, newestArrival: now))
        }
        var group = groups.remove(at: place)
        if place == groups.count { group.weight += min(max(now - group.newestArrival, 0), 120_000) }
        (group.line, group.newestArrival) = (line, now)
        (group.first, group.last) = (min(group.first, time), max(group.last, time))
        groups.append(group)
    }

    /// Dates ahead of the present one that are outweighed, or surely wrong; and those that no program of this version can have seen.
    private mutating func find(_ present: Int64, isSure: Bool) {
        guard present >= 1_795_219_200_000, let own = groups.last else { return }
        if let before, isSure, before > present + 30_000 {
            disproved.append(present + 1...before)
            self.before = nil
        }
        if let before, before < 1_795_219_200_000 {
            disproved.append(.min...before)
            self.before = nil
        }
        groups.removeAll { group in
            if group.last < 1_795_219_200_000 {
                disproved.append(group.first...group.last)
                return true
            }
            guard group.line != own.line, group.last > present + 30_000, isSure || own.weight >= group.weight else {
                return false
            }
            disproved.append(max(group.first, present + 1)...group.last)
            return true
        }
    }
}
