import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import AlarmLog

@Suite struct AlarmJournalTests {
    private let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])

    private func open(_ options: AlarmJournal.Options = .init()) -> AlarmJournal {
        AlarmJournal(directory: "/var/saker", options: options, fileSystem: disk, now: .start)
    }

    @Test func whatWasAppendedIsThereAfterAPowerCut() throws {
        let journal = open()
        #expect(journal.trouble == nil)
        #expect(
            try journal.append(.sample(7), isOwed: true)
                == .new(JournalAlarm(number: 1, content: .sample(7), isOwed: true)))
        #expect(try journal.append(.sample(8), isOwed: false).number == 2)
        #expect(try journal.append(.sample(7), isOwed: true) == .known)
        disk.crash(seed: 3)
        let again = open()
        #expect(try again.alarms(AlarmQuery()).alarms.map(\.content) == [.sample(7), .sample(8)])
        #expect(again.owed(limit: 9).map(\.number) == [1])
        #expect(try again.append(.sample(8), isOwed: true) == .known)
        #expect(try again.append(.sample(9), isOwed: true).number == 3)
        #expect(again.counters == AlarmJournal.Counters())
    }

    /// Hooks kept it in the journal while later ones were dropped.
    @Test func anAlarmThatIsDroppedLateIsKnownToTheNextProcess() throws {
        let options = AlarmJournal.Options(limit: AlarmJournal.Options.limits.lowerBound)
        let journal = open(options)
        func append(_ ids: ClosedRange<UInt64>) throws {
            for id in ids {
                var alarm = NewAlarm.sample(id)
                alarm.body = String(repeating: "x", count: 8000)
                _ = try journal.append(alarm, isOwed: id == 1)
            }
        }
        try append(1...12)
        #expect(journal.counters.dropped > 0 && journal.owedCount == 1)
        journal.finish(1)
        try append(13...24)
        #expect(try journal.append(.sample(1), isOwed: true) == .dropped(1))
        disk.killProcess()
        let again = open(options)
        #expect(!(try again.alarms(AlarmQuery()).alarms.contains { $0.number == 1 }))
        for id in 1...24 as ClosedRange<UInt64> {
            #expect([.known, .dropped(id)].contains(try again.append(.sample(id), isOwed: true)))
        }
    }

    /// A vehicle that was offline for a day uploads its points; the server's alarm of the morning comes in the evening.
    @Test func anAlarmIsFoundByTheTimeAtWhichItHappened() throws {
        let journal = open()
        let (morning, evening): (Int64, Int64) = (1_772_670_000_000, 1_772_710_000_000)
        let bodies = [
            "{\"action\":\"exit\",\"alarm_point\":{\"loc_time\":1772670003},\"crossing\":{\"time\":\(morning)}}",
            "{\"action\":\"exit\",\"alarm_point\":{\"loc_time\":1772670000}}",
            "{\"action\":\"exit\"}", "no JSON", "{\"alarm_point\":{\"loc_time\":9223372036854775807}}",
        ]
        for (index, body) in bodies.enumerated() {
            let alarm = NewAlarm(
                id: UInt64(index + 1), type: 3, entity: "van", time: evening, received: evening, body: body)
            _ = try journal.append(alarm, isOwed: false)
        }
        let message = NewAlarm(id: 9, type: 65, entity: "van", time: evening, received: evening, body: bodies[0])
        _ = try journal.append(message, isOwed: false)
        func found(_ query: AlarmQuery) throws -> [UInt64] { try journal.alarms(query).alarms.map(\.content.id) }
        #expect(try found(AlarmQuery(from: morning, through: morning + 999)) == [1, 2])
        #expect(try found(AlarmQuery(from: evening)) == [3, 4, 5, 9])
        #expect(try journal.alarms(AlarmQuery()).alarms.map(\.content.happened).prefix(2) == [morning, morning])
        // What the server will send again is still judged by the server's own time.
        journal.forget(serverTime: evening + 8 * 86_400_000 - 1000)
        #expect(try found(AlarmQuery()).count == 6)
        disk.killProcess()
        #expect(try open().alarms(AlarmQuery(from: morning, through: morning)).alarms.map(\.content.id) == [1, 2])
    }

    @Test func whatCannotComeTwiceIsNeverKnown() throws {
        let journal = open()
        #expect(try journal.append(.sample(0), isOwed: false).number == 1)
        #expect(try journal.append(.sample(0), isOwed: false).number == 2)
    }

    @Test func finishedAlarmsAreOwedNoMoreAlsoByTheNextProcess() throws {
        let journal = open()
        for id in 1...3 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: true) }
        journal.finish(2)
        journal.finish(2)
        journal.finish(99)
        #expect(journal.owed(limit: 9).map(\.number) == [1, 3])
        #expect(journal.owed(limit: 1).map(\.number) == [1])
        #expect(journal.owed(limit: 9, without: [1]).map(\.number) == [3])
        disk.killProcess()
        let again = open()
        #expect(again.owed(limit: 9).map(\.number) == [1, 3])
        #expect(again.count == 3)
        again.finishAll()
        disk.killProcess()
        #expect(open().owedCount == 0)
    }

    @Test func queriesChooseByNumberTimeTypeAndCount() throws {
        let journal = open()
        for id in 1...10 as ClosedRange<UInt64> {
            var alarm = NewAlarm.sample(id)
            alarm.type = id % 2 == 0 ? 3 : 65
            // Without a time of its own, it is that of its receipt that counts.
            if id == 10 { (alarm.time, alarm.received) = (0, 10_000) }
            _ = try journal.append(alarm, isOwed: false)
        }
        func numbers(_ query: AlarmQuery) throws -> ([UInt64], Bool) {
            let page = try journal.alarms(query)
            return (page.alarms.map(\.number), page.isCut)
        }
        #expect(try numbers(AlarmQuery()) == (Array(1...10), false))
        #expect(try numbers(AlarmQuery(limit: 3)) == ([8, 9, 10], true))
        #expect(try numbers(AlarmQuery(after: 4, limit: 3)) == ([5, 6, 7], true))
        #expect(try numbers(AlarmQuery(after: 8, limit: 3)) == ([9, 10], false))
        #expect(try numbers(AlarmQuery(type: 3)) == ([2, 4, 6, 8, 10], false))
        #expect(try numbers(AlarmQuery(from: 3000, through: 5000)) == ([3, 4, 5], false))
        #expect(try numbers(AlarmQuery(from: 9001)) == ([10], false))
        #expect(try numbers(AlarmQuery(limit: 0)) == ([], true))
    }

    @Test func anAnswerIsBoundedInBytes() throws {
        let journal = open()
        for id in 1...40 as ClosedRange<UInt64> {
            var alarm = NewAlarm.sample(id)
            alarm.body = String(repeating: "x", count: NewAlarm.maximumBodyBytes)
            _ = try journal.append(alarm, isOwed: false)
        }
        let page = try journal.alarms(AlarmQuery(limit: 1000))
        #expect(page.isCut)
        #expect(page.alarms.count == 31)
        #expect(page.alarms.last?.number == 40)
    }

    @Test func theBoundDropsTheOldestThatNobodyIsOwedAndCountsThem() throws {
        let journal = open(.init(limit: 4096))
        for id in 1...200 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: id == 1) }
        #expect(journal.bytes <= 4096)
        #expect(journal.count < 200)
        #expect(journal.counters.dropped == 200 - journal.count)
        let kept = try journal.alarms(AlarmQuery(limit: 1000)).alarms.map(\.number)
        #expect(kept == [1] + Array((202 - UInt64(journal.count))...200))
        #expect(journal.owed(limit: 9).map(\.number) == [1])
        // A number is not used again, also not by a process that finds fewer alarms.
        disk.killProcess()
        let again = open(.init(limit: 4096))
        #expect(again.owed(limit: 9).map(\.number) == [1])
        #expect(try again.append(.sample(999), isOwed: false).number == 201)
    }

    @Test func aDroppedAlarmIsKnownAlsoToTheNextProcess() throws {
        func long(_ id: UInt64) -> NewAlarm {
            var alarm = NewAlarm.sample(id)
            alarm.body = String(repeating: "x", count: 300)
            return alarm
        }
        let journal = open(.init(limit: 16_384))
        for id in 1...60 as ClosedRange<UInt64> { _ = try journal.append(long(id), isOwed: false) }
        #expect((1..<60).contains(journal.counters.dropped))
        #expect(journal.count == 60 - journal.counters.dropped)
        let dropped = UInt64(journal.counters.dropped)
        func checkKnown(_ journal: AlarmJournal) throws {
            for id in 1...60 as ClosedRange<UInt64> {
                let expected: AlarmJournal.Appended = id <= dropped ? .dropped(id) : .known
                #expect(try journal.append(long(id), isOwed: false) == expected)
            }
        }
        try checkKnown(journal)
        disk.crash(seed: 5)
        let again = open(.init(limit: 16_384))
        try checkKnown(again)
        #expect(again.counters == AlarmJournal.Counters())
        // The traces are bounded too: by size, and by time.
        for id in 61...400 as ClosedRange<UInt64> { _ = try again.append(long(id), isOwed: false) }
        #expect(again.bytes <= 16_384)
        #expect(try again.append(long(1), isOwed: false).number == 401)
        again.forget(serverTime: 400_001 + AlarmJournal.Options.remembered)
        #expect(try again.append(long(399), isOwed: false).number == 402)
    }

    @Test func alarmsThatHooksAreOwedFillTheJournalAndLeaveIt() throws {
        let journal = open(.init(limit: 4096))
        var taken: [UInt64] = []
        for id in 1...200 as ClosedRange<UInt64> {
            if try journal.append(.sample(id), isOwed: true) != .full { taken.append(id) }
        }
        #expect(taken.count > 20 && taken == Array(1...UInt64(taken.count)))
        #expect(journal.owedCount == taken.count && journal.counters.dropped == 0)
        #expect(journal.bytes <= 4096)
        disk.killProcess()
        let again = open(.init(limit: 4096))
        #expect(again.owedCount == taken.count)
        #expect(try again.append(.sample(200), isOwed: true) == .full)
        for number in taken.prefix(10) { again.finish(number) }
        #expect(try again.append(.sample(200), isOwed: true).number == UInt64(taken.count) + 1)
        #expect(again.owed(limit: 1000).map(\.number) == Array(11...UInt64(taken.count) + 1))
    }

    @Test func aLowerLimitTakesNothingThatIsOwed() throws {
        let journal = open(.init(limit: 1 << 20))
        for id in 1...1000 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: id % 2 == 0) }
        disk.killProcess()
        let again = open(.init(limit: 65_536))
        #expect(again.count == 1000)
        _ = try again.append(.sample(1001), isOwed: false)
        #expect(again.owedCount == 500)
        #expect(again.bytes <= 65_536)
    }

    @Test func whatTheServerHasForgottenGoesButNotWhatHooksAreOwed() throws {
        let journal = open(.init(retention: 1000))
        for id in 1...4 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: id == 2) }
        journal.forget(serverTime: .min)
        #expect(journal.count == 4)
        journal.forget(serverTime: 4001)
        #expect(try journal.alarms(AlarmQuery()).alarms.map(\.number) == [2, 4])
        #expect(try journal.append(.sample(1), isOwed: false).number == 5)
        journal.forget(serverTime: .max)
        #expect(try journal.alarms(AlarmQuery()).alarms.map(\.number) == [2])
    }

    @Test func aFileThatIsNoJournalIsPutAsideAndKept() throws {
        for (index, bytes) in [[], Array("hello".utf8), [UInt8](repeating: 0, count: 4096)].enumerated() {
            disk.plant(bytes, at: "/var/saker/alarms.journal")
            let journal = open()
            #expect(journal.counters.putAside == 1, "file \(index)")
            #expect(try journal.append(.sample(1), isOwed: false).number == 1)
            #expect(disk.contents(of: "/var/saker/alarms.journal.damaged") == bytes)
            disk.killProcess()
        }
    }

    @Test func aDamagedRecordIsPassedOverAndTheOthersStay() throws {
        let journal = open()
        for id in 1...3 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: false) }
        let length = AlarmFormat.encode(.alarm(JournalAlarm(number: 1, content: .sample(1), isOwed: false))).count
        disk.flip(bit: 3, at: AlarmFormat.headerBytes + length + 60, of: "/var/saker/alarms.journal")
        #expect(try journal.alarms(AlarmQuery()).alarms.map(\.number) == [1, 3])
        disk.killProcess()
        let again = open()
        #expect(try again.alarms(AlarmQuery()).alarms.map(\.number) == [1, 3])
        #expect(again.counters.damaged == 1)
        #expect(try again.append(.sample(2), isOwed: false).number == 4)
    }
}

extension NewAlarm {
    static func sample(_ id: UInt64) -> NewAlarm {
        NewAlarm(
            id: id, type: 65, entity: "van \u{E9}", time: Int64(id) * 1000, received: 5,
            body: "{\"text\":\"message \(id)\"}")
    }
}

extension AlarmJournal.Appended {
    /// Of a new alarm.
    var number: UInt64? {
        if case .new(let alarm) = self { alarm.number } else { nil }
    }
}

extension MonotonicTime {
    /// For tests in which no time passes.
    static let start = MonotonicTime(milliseconds: 5_000_000)
}

// The same in a moment that does not matter.
extension AlarmJournal {
    func append(_ content: NewAlarm, isOwed: Bool) throws(CacheFileError) -> Appended {
        try append(content, isOwed: isOwed, now: .start)
    }

    func append(_ verdict: FenceJournalRecord) throws(CacheFileError) -> FenceJournalRecord.Outcome {
        try append(verdict, now: .start)
    }

    func note(_ state: JournalFenceState) throws(CacheFileError) { try note(state, now: .start) }

    func alarms(_ query: AlarmQuery) throws(CacheFileError) -> AlarmPage { try alarms(query, now: .start) }

    /// Empty also when the disk refuses.
    func owed(limit: Int, without known: Set<UInt64> = []) -> [JournalAlarm] {
        (try? owed(limit: limit, without: known, now: .start))?.alarms ?? []
    }
}
