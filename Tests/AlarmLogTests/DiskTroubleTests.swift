import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import AlarmLog

/// What the disk can do to a journal.
@Suite struct DiskTroubleTests {
    private static let directories = ["/var", "/var/saker"]

    private func open(_ disk: DiskSimulation, _ options: AlarmJournal.Options = .init()) -> AlarmJournal {
        AlarmJournal(directory: "/var/saker", options: options, fileSystem: disk, now: .start)
    }

    @Test func aFullDiskRefusesAndTakesAgainWhenThereIsRoom() throws {
        let disk = DiskSimulation(seed: 1, directories: Self.directories)
        let journal = open(disk)
        _ = try journal.append(.sample(1), isOwed: true)
        disk.capacity = disk.usedBytes
        var long = NewAlarm.sample(2)
        long.body = String(repeating: "y", count: 9000)
        #expect(throws: CacheFileError(.write, 28)) { try journal.append(long, isOwed: true) }
        #expect(journal.trouble == CacheFileError(.write, 28))
        #expect(try journal.alarms(AlarmQuery()).alarms.map(\.number) == [1])
        disk.capacity = nil
        #expect(try journal.append(long, isOwed: true).number == 2)
        #expect(journal.trouble == nil)
        disk.crash(seed: 5)
        #expect(try open(disk).alarms(AlarmQuery()).alarms.map(\.content) == [.sample(1), long])
    }

    @Test(arguments: [CacheFileError.Operation.write, .synchronizeData, .open, .rename, .synchronize, .truncate])
    func afterAnErrorNothingIsLostOrDoubled(operation: CacheFileError.Operation) throws {
        let disk = DiskSimulation(seed: 2, directories: Self.directories)
        let journal = open(disk, .init(limit: 2048))
        var kept: [UInt64] = []
        for id in 1...60 as ClosedRange<UInt64> {
            if id % 3 == 0 { disk.faults = [DiskFault([operation, .write], times: 2, number: 5)] }
            var attempts = 0
            while true {
                attempts += 1
                do {
                    guard case .new(let alarm) = try journal.append(.sample(id), isOwed: false) else {
                        Issue.record("alarm \(id) was known before it was taken")
                        break
                    }
                    kept.append(alarm.content.id)
                    break
                } catch {
                    try #require(attempts < 10)
                }
            }
        }
        disk.crash(seed: 9)
        let found = try open(disk, .init(limit: 2048)).alarms(AlarmQuery(limit: 100)).alarms.map(\.content.id)
        #expect(found == Array(kept.suffix(found.count)))
        #expect(found.count > 5)
    }

    @Test func aDirectoryThatCannotBeUsedIsUsedOnceItCan() throws {
        let disk = DiskSimulation(seed: 1)
        let journal = open(disk)
        #expect(journal.trouble == CacheFileError(.makeDirectory, 2))
        #expect(throws: CacheFileError.self) { try journal.append(.sample(1), isOwed: false) }
        try disk.makeDirectory("/var")
        #expect(try journal.append(.sample(1), isOwed: false).number == 1)
    }

    /// Seconds after the opening of the journal.
    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime.start + seconds * 1000 }

    @Test func aBurstOfPushesAtADiskThatFailsForAMomentCostsNothing() throws {
        let disk = DiskSimulation(seed: 1, directories: Self.directories)
        _ = try open(disk).append(.sample(1), isOwed: false)
        disk.killProcess()
        disk.faults = [DiskFault([.read], number: 5)]
        let journal = open(disk)
        for _ in 1..<1000 {
            #expect(throws: CacheFileError(.read, 5)) { try journal.append(.sample(2), isOwed: false, now: time(1)) }
        }
        #expect(throws: CacheFileError(.read, 5)) { try journal.alarms(AlarmQuery(), now: time(1)) }
        #expect(throws: CacheFileError(.read, 5)) { try journal.owed(limit: 9, now: time(1)) }
        #expect(journal.lastNumber == 0)
        disk.faults = []
        #expect(try journal.append(.sample(1), isOwed: false, now: time(2)) == .known)
        #expect(journal.counters == AlarmJournal.Counters() && !journal.hasGivenUp)
    }

    @Test func afterTenMinutesAFileThatStaysUnreadableKeepsNoAlarmOut() throws {
        let disk = DiskSimulation(seed: 1, directories: Self.directories)
        _ = try open(disk).append(.sample(1), isOwed: false)
        disk.killProcess()
        disk.faults = [DiskFault([.read], number: 5)]
        let journal = open(disk)
        for second in 1...602 as ClosedRange<Int64> {
            #expect(throws: CacheFileError(.read, 5)) {
                try journal.append(.sample(2), isOwed: false, now: time(second))
            }
        }
        #expect(!journal.hasGivenUp)
        #expect(try journal.append(.sample(2), isOwed: false, now: time(603)).number == 1)
        #expect(journal.counters.putAside == 1 && journal.hasGivenUp)
    }

    /// Two attempts a day apart are two attempts.
    /// One bad block in the middle: what stands behind it is read.
    @Test func whatStandsBehindAPlaceThatIsGivenUpIsFound() throws {
        let disk = DiskSimulation(seed: 1, directories: Self.directories)
        let before = open(disk)
        for id in 1...200 as ClosedRange<UInt64> { _ = try before.append(.sample(id), isOwed: false) }
        disk.killProcess()
        let files = BadBlockFiles(disk, bad: 8192..<12_288)
        let journal = AlarmJournal(directory: "/var/saker", fileSystem: files, now: .start)
        #expect(journal.trouble != nil)
        var now = MonotonicTime.start
        for _ in 0..<40 {
            now = now + 60_000
            _ = try? journal.append(.sample(500), isOwed: false, now: now)
        }
        let kept = try journal.alarms(AlarmQuery(limit: 1000), now: now).alarms.map(\.number)
        #expect(Set(kept).isSuperset(of: 1...100) && Set(kept).isSuperset(of: 170...201) && kept.count < 170, "\(kept)")
        #expect(journal.counters.damaged == 1)
    }

    @Test func timeAloneGivesNothingUp() throws {
        let disk = DiskSimulation(seed: 1, directories: Self.directories)
        _ = try open(disk).append(.sample(1), isOwed: false)
        disk.killProcess()
        disk.faults = [DiskFault([.read], number: 5)]
        let journal = open(disk)
        for day in 1...14 as ClosedRange<Int64> {
            #expect(throws: CacheFileError(.read, 5)) {
                try journal.append(.sample(2), isOwed: false, now: time(day * 86_400))
            }
        }
        disk.faults = []
        #expect(try journal.append(.sample(1), isOwed: false, now: time(86_400 * 15)) == .known)
    }

    @Test func anAlarmThatCannotBeReadAnyMoreIsKnownAllTheSame() throws {
        let options = AlarmJournal.Options(limit: 4096)
        let disk = DiskSimulation(seed: 1, directories: Self.directories)
        let journal = open(disk, options)
        for id in 1...3 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: id == 2) }
        disk.faults = [DiskFault([.read], number: 5)]
        // Errors of years do not add up.
        for second in stride(from: 0, through: 540, by: 60) as StrideThrough<Int64> {
            #expect(throws: CacheFileError(.read, 5)) { try journal.alarms(AlarmQuery(), now: time(second)) }
        }
        disk.faults = []
        #expect(try journal.alarms(AlarmQuery(), now: time(560)).alarms.count == 3)
        disk.faults = [DiskFault([.read, .synchronizeData], number: 5)]
        #expect(throws: CacheFileError(.synchronizeData, 5)) {
            try journal.append(.sample(4), isOwed: false, now: time(600))
        }
        disk.faults = [DiskFault([.read], number: 5)]
        // The first of them is not the only one that is tried.
        for second in 601...1203 as ClosedRange<Int64> {
            #expect(throws: CacheFileError(.read, 5)) {
                try journal.append(.sample(4), isOwed: false, now: time(second))
            }
        }
        #expect(try journal.append(.sample(4), isOwed: false, now: time(1204)).number == 4)
        #expect(journal.counters.damaged == 3 && journal.hasGivenUp)
        disk.faults = []
        for _ in 0..<2 {
            let again = open(disk, options)
            for id in 1...4 as ClosedRange<UInt64> {
                #expect([.known, .dropped(id)].contains(try again.append(.sample(id), isOwed: true)))
            }
            #expect(again.count == 1 && again.owedCount == 0)
            disk.crash(seed: 3)
        }
    }

    @Test func hooksThatAreTurnedOffAreNotOwedWhenTheFileIsReadLate() throws {
        let disk = DiskSimulation(seed: 1, directories: Self.directories)
        _ = try open(disk).append(.sample(1), isOwed: true)
        disk.killProcess()
        disk.faults = [DiskFault([.read], number: 5)]
        let journal = open(disk)
        journal.finishAll()
        disk.faults = []
        #expect(try journal.alarms(AlarmQuery()).alarms.map(\.isOwed) == [false])
    }

    /// Hooks run in the order of the alarms.
    @Test func noAlarmOvertakesOneThatTheDiskRefuses() throws {
        let disk = DiskSimulation(seed: 1, directories: Self.directories)
        let journal = open(disk)
        for id in 1...3 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: true) }
        #expect(try journal.owed(limit: 2, now: time(0)).isAll == false)
        #expect(try journal.owed(limit: 3, now: time(0)).isAll)
        disk.faults = [DiskFault([.read], after: 1, times: 1, number: 5)]
        let found = try journal.owed(limit: 9, now: time(0))
        #expect(found.alarms.map(\.number) == [1] && !found.isAll)
        #expect(try journal.owed(limit: 9, now: time(0)).alarms.map(\.number) == [1, 2, 3])
    }

    /// The power fails at every call that changes something, in turn, and the disk keeps any part of what was not
    /// synchronised. What was taken is there, once; what was refused may be; nothing else is; and it goes on.
    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func powerCutsAtEachWrite(seed: UInt64) throws {
        var cut = 0
        while true {
            let disk = DiskSimulation(seed: seed, directories: Self.directories)
            disk.hasShortTransfers = seed % 2 == 0
            disk.callsUntilPowerFailure = cut
            let options = AlarmJournal.Options(limit: 1500)
            var taken: [UInt64] = []
            var finished: Set<UInt64> = []
            var attempted: UInt64 = 0
            var journal = open(disk, options)
            for id in 1...25 as ClosedRange<UInt64> {
                attempted = id
                if case .new(let alarm)? = try? journal.append(.sample(id), isOwed: true) {
                    taken.append(id)
                    if id % 2 == 0 {
                        journal.finish(alarm.number)
                        finished.insert(id)
                    }
                }
                guard disk.hasPower else { break }
            }
            let wasCut = !disk.hasPower
            disk.crash(seed: seed &* 1000 &+ UInt64(cut))
            journal = open(disk, options)
            #expect(journal.trouble == nil, "seed \(seed), cut \(cut)")
            let found = try journal.alarms(AlarmQuery(limit: 100)).alarms
            let ids = found.map(\.content.id)
            let kept = ids.filter { $0 != attempted || taken.contains($0) }
            // Hooks are owed for the others, so the limit never drops them.
            let ended = kept.filter(finished.contains)
            #expect(ended == Array(taken.filter(finished.contains).suffix(ended.count)), "seed \(seed), cut \(cut)")
            #expect(
                kept.filter { !finished.contains($0) } == taken.filter { !finished.contains($0) },
                "seed \(seed), cut \(cut)")
            // At most a mark that was not synchronised.
            #expect(journal.counters.damaged <= 1, "seed \(seed), cut \(cut)")
            #expect(kept.count >= min(taken.count, 5), "seed \(seed), cut \(cut): \(kept) of \(taken)")
            #expect(
                found.allSatisfy { $0.isOwed || finished.contains($0.content.id) }, "seed \(seed), cut \(cut)")
            // What may have been acknowledged is known; all else is taken now, once.
            if let last = taken.last, ids.contains(last) {
                #expect(try journal.append(.sample(last), isOwed: true) == .known, "seed \(seed), cut \(cut)")
            }
            #expect(try journal.append(.sample(777), isOwed: true).number != nil, "seed \(seed), cut \(cut)")
            guard wasCut else { break }
            cut += 1
        }
        #expect(cut > 25)
    }

    /// Any bytes at all.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func aFileWithAnythingInItIsRead(seed: UInt64) throws {
        var dice = SplitMix(state: seed)
        let disk = DiskSimulation(seed: seed, directories: Self.directories)
        let journal = open(disk)
        for id in 1...10 as ClosedRange<UInt64> { _ = try journal.append(.sample(id), isOwed: true) }
        disk.killProcess()
        var bytes = try #require(disk.contents(of: "/var/saker/alarms.journal"))
        for _ in 0..<Int.random(in: 1...20, using: &dice) {
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: .min ... .max, using: &dice)
            case 1: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &dice))
            default:
                bytes += (0..<Int.random(in: 0...100, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice)
                }
            }
            if bytes.isEmpty { break }
        }
        disk.plant(bytes, at: "/var/saker/alarms.journal")
        let again = open(disk)
        #expect(again.trouble == nil)
        let found = try again.alarms(AlarmQuery()).alarms
        #expect(
            found.allSatisfy { (1...10).contains($0.content.id) && $0.content == .sample($0.content.id) },
            "seed \(seed)")
        #expect(try again.append(.sample(99), isOwed: false).number != nil, "seed \(seed)")
    }
}

/// A disk with one bad place, which no file that is opened for reading alone gives. Everything else works.
final class BadBlockFiles: DiskDecorator {
    let disk: DiskSimulation
    private let bad: Range<Int>
    private var reading: Set<CacheFile> = []

    init(_ disk: DiskSimulation, bad: Range<Int>) {
        (self.disk, self.bad) = (disk, bad)
    }

    func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        if reading.contains(file), (offset..<(offset + buffer.count)).overlaps(bad) { throw CacheFileError(.read, 5) }
        return try disk.read(file, into: buffer, at: offset)
    }

    func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        let file = try disk.open(path, access)
        if access == .readOnly { reading.insert(file) } else { reading.remove(file) }
        return file
    }
}
