import DiskRing
import Testing
import TrackTestKit

@testable import AlarmLog

/// Alarms of the box's own fences and the state that follows from them.
@Suite struct FenceJournalRecordTests {
    private let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])

    private func open(_ disk: DiskSimulation? = nil, _ options: AlarmJournal.Options = .init()) -> AlarmJournal {
        AlarmJournal(directory: "/var/saker", options: options, fileSystem: disk ?? self.disk, now: .start)
    }

    @Test func anAlarmAndItsStateAreThereAfterAPowerCut() throws {
        let journal = open()
        _ = try journal.append(.sample(7), isOwed: false)
        let outcome = try journal.append(.sample([11, 12], state: 5))
        #expect(
            outcome
                == .taken([
                    .new(JournalAlarm(number: 2, content: .fence(11), isOwed: true)),
                    .new(JournalAlarm(number: 3, content: .fence(12), isOwed: true)),
                ]))
        // Before and after the file was written anew.
        for seed in 1...2 as ClosedRange<UInt64> {
            disk.crash(seed: seed)
            let again = open()
            #expect(try again.alarms(AlarmQuery()).alarms.map(\.content) == [.sample(7), .fence(11), .fence(12)])
            #expect(again.fenceStates == [.sample(5)])
            #expect(again.owed(limit: 9).map(\.number) == [2, 3])
            #expect(again.counters == AlarmJournal.Counters())
        }
        #expect(try open().append(.sample(9), isOwed: false).number == 4)
    }

    @Test func whatIsKnownIsNotWrittenAgainAndItsStateIs() throws {
        let journal = open()
        _ = try journal.append(.sample([11], state: 5))
        let outcome = try journal.append(.sample([11, 12, 12], state: 6))
        #expect(outcome == .taken([.known, .new(JournalAlarm(number: 2, content: .fence(12), isOwed: true)), .known]))
        #expect(journal.fenceStates == [.sample(6)])
    }

    @Test func anAlarmOfAVerdictIsReadFinishedAndFoundByItsFence() throws {
        let journal = open()
        _ = try journal.append(.sample(1), isOwed: false)
        _ = try journal.append(.sample([11, 12, 13], state: 5))
        journal.finish(3)
        func numbers(_ query: AlarmQuery) throws -> [UInt64] { try journal.alarms(query).alarms.map(\.number) }
        #expect(try numbers(AlarmQuery()) == [1, 2, 3, 4])
        #expect(try numbers(AlarmQuery(fences: [11, 13])) == [2, 4])
        #expect(try numbers(AlarmQuery(fences: [])) == [])
        #expect(try numbers(AlarmQuery(actions: [.exit])) == [3])
        #expect(try numbers(AlarmQuery(from: 12_000, entity: "van_07", fences: [11, 12])) == [3])
        #expect(try numbers(AlarmQuery(entity: "van_08")) == [])
        #expect(try numbers(AlarmQuery(entity: "van e\u{301}")) == [])
        #expect(try numbers(AlarmQuery(entity: "van \u{E9}")) == [1])
        disk.killProcess()
        #expect(open().owed(limit: 9).map(\.number) == [2, 4])
        #expect(try open().alarms(AlarmQuery(actions: [.exit])).alarms.map(\.number) == [3])
    }

    @Test func notesReplaceEachOtherAndSurviveAKill() throws {
        let journal = open()
        let before = disk.calls[.synchronizeData, default: 0] + disk.calls[.synchronize, default: 0]
        for time in 1...9 as ClosedRange<Int64> { try journal.note(.sample(time)) }
        try journal.note(.sample(4, of: "van_08"))
        #expect(disk.calls[.synchronizeData, default: 0] + disk.calls[.synchronize, default: 0] == before)
        disk.killProcess()
        #expect(open().fenceStates == [.sample(9), .sample(4, of: "van_08")])
    }

    @Test func notesNeverFillTheFileAndNeverDropAnAlarm() throws {
        let journal = open(nil, .init(limit: 65_536))
        for id in 1...20 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: false) }
        for time in 1...4000 as ClosedRange<Int64> { try journal.note(.sample(time)) }
        #expect(journal.bytes <= 65_536)
        #expect(journal.count == 20)
        #expect(journal.fenceStates == [.sample(4000)])
        #expect(disk.calls[.rename, default: 0] < 12)
        disk.killProcess()
        #expect(open().fenceStates == [.sample(4000)])
    }

    @Test func alarmsThatHooksAreOwedLeaveNoRoomForAVerdict() throws {
        let journal = open(nil, .init(limit: 4096))
        var id: UInt64 = 0
        while try journal.append(.sample(id + 1), isOwed: true) != .full { id += 1 }
        #expect(try journal.append(.sample([900, 901], state: 5)) == .full)
        #expect(journal.fenceStates == [])
        for number in 1...10 as ClosedRange<UInt64> { journal.finish(number) }
        guard case .taken(let appended) = try journal.append(.sample([900], state: 5)) else {
            Issue.record("the journal has room")
            return
        }
        #expect(appended.count == 1)
    }

    @Test func aStateThatIsTooLargeIsRefusedAndNothingElseIs() throws {
        let journal = open(nil, .init(limit: 65_536))
        var large = JournalFenceState.sample(5)
        large.fenceState = [UInt8](repeating: 7, count: 20_000)
        #expect(throws: CacheFileError(.write, 28)) { try journal.note(large) }
        #expect(try journal.append(FenceJournalRecord(alarms: [], state: large)) == .full)
        try journal.note(.sample(6))
        #expect(journal.fenceStates == [.sample(6)])
    }

    @Test func onlyTheNewestEntitiesAreKept() throws {
        let journal = open()
        for number in 1...20 { try journal.note(.sample(Int64(number), of: "van_\(number)")) }
        #expect(journal.fenceStates.map(\.entity) == (5...20).map { "van_\($0)" })
    }

    /// The power fails at every call that changes something, in turn. An alarm without its state, or a state without the
    /// alarms before it, is never found.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func powerCutsNeverPartAnAlarmFromItsState(seed: UInt64) throws {
        var cut = 0
        while true {
            let disk = DiskSimulation(seed: seed, directories: ["/var", "/var/saker"])
            disk.hasShortTransfers = seed % 2 == 0
            disk.callsUntilPowerFailure = cut
            let options = AlarmJournal.Options(limit: 6000)
            let journal = open(disk, options)
            // Each verdict has the next two alarms, and its state says how many alarms there were.
            var (taken, attempted) = (0, 0)
            for step in 1...30 where disk.hasPower {
                if step % 3 == 0 {
                    let ids = [UInt64(attempted + 1), UInt64(attempted + 2)]
                    let verdict = FenceJournalRecord.sample(ids, state: Int64(attempted + 2) * 1000, isOwed: false)
                    guard case .taken? = try? journal.append(verdict) else { break }
                    attempted += 2
                    taken = attempted
                } else {
                    try? journal.note(.sample(Int64(attempted) * 1000 + Int64(step)))
                }
            }
            let wasCut = !disk.hasPower
            disk.crash(seed: seed &* 1000 &+ UInt64(cut))
            let again = open(disk, options)
            let found = try again.alarms(AlarmQuery(limit: 100)).alarms.map { Int($0.content.id) }
            let state = again.fenceStates.first.map { Int($0.time) / 1000 } ?? 0
            #expect(state == found.last ?? 0, "seed \(seed), cut \(cut): \(found), state \(state)")
            #expect(found == Array(1...max(1, state)).suffix(found.count), "seed \(seed), cut \(cut)")
            #expect(state >= taken && state <= attempted + 2, "seed \(seed), cut \(cut)")
            guard wasCut else { break }
            cut += 1
        }
        #expect(cut > 40)
    }
}

extension NewAlarm {
    static func fence(_ id: UInt64) -> NewAlarm {
        NewAlarm(
            id: id, type: 4, entity: "van_07", time: Int64(id) * 1000, received: 5, body: "{\"fence_id\":\(id)}",
            fence: AlarmFence(fence: Int32(id), action: id % 2 == 0 ? .exit : .enter))
    }
}

extension JournalFenceState {
    static func sample(_ time: Int64, of entity: String = "van_07") -> JournalFenceState {
        JournalFenceState(entity: entity, time: time, fenceState: Array("fence state \(time)".utf8))
    }
}

extension FenceJournalRecord {
    static func sample(_ ids: [UInt64], state: Int64, isOwed: Bool = true) -> FenceJournalRecord {
        FenceJournalRecord(
            alarms: ids.map { Told(content: .fence($0), isOwed: isOwed) }, state: .sample(state))
    }
}
