import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import AlarmLog

/// A journal in which a bit or a place is not what was written: nothing else may be lost.
@Suite struct FlippedBitTests {
    private static let path = "/var/saker/alarms.journal"

    /// What a process has found in the file.
    private struct Content: Hashable {
        var alarms: [UInt64]
        var isOwed: [UInt64]
        var confirmed: [UInt64]
        var states: Set<JournalFenceState>
        var traces: [UInt64]
    }

    private func read(_ disk: DiskSimulation) throws -> (content: Content, journal: AlarmJournal) {
        let journal = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: .start)
        let alarms = try journal.alarms(AlarmQuery(limit: 1000)).alarms
        let content = Content(
            alarms: alarms.map(\.number), isOwed: journal.owed(limit: 1000).map(\.number),
            confirmed: alarms.filter(\.isConfirmed).map(\.number), states: Set(journal.fenceStates),
            traces: journal.traces.map(\.number))
        return (content, journal)
    }

    /// The bytes of a journal with every kind of record, and what each record means.
    private func sample() throws -> (bytes: [UInt8], records: [(range: Range<Int>, record: AlarmFormat.Record)]) {
        let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])
        let journal = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: .start)
        _ = try journal.append(.sample(1), isOwed: true)
        _ = try journal.append(.sample([11, 12], state: 5))
        _ = try journal.append(.sample(2), isOwed: false)
        journal.finish(1)
        try journal.note(.sample(9, of: "van_08"))
        try journal.put(AlarmFormat.encode(.dropped(AlarmTrace(number: 6, id: 77, serverTime: 1))))
        var early = NewAlarm.fence(13)
        early.early = EarlyAlarmPoint(stream: StreamID(high: 1, low: 2), sequence: 7)
        let number = journal.nextNumber
        try journal.put(AlarmFormat.encode(.alarm(JournalAlarm(number: number, content: early, isOwed: false))))
        var update = AlarmUpdate()
        update.isConfirmed = true
        try journal.put(AlarmFormat.encode(.update(number, update)))
        let bytes = try #require(disk.contents(of: Self.path))
        var records: [(Range<Int>, AlarmFormat.Record)] = []
        var offset = AlarmFormat.headerBytes
        while offset < bytes.count {
            let length = try #require(AlarmFormat.length(bytes, at: offset))
            let record = try #require(AlarmFormat.decode(Array(bytes[offset..<(offset + length)])))
            records.append((offset..<(offset + length), record))
            offset += length
        }
        return (bytes, records)
    }

    private func file(_ bytes: [UInt8]) throws -> DiskSimulation {
        let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])
        let file = try disk.openFile(Self.path, .replace)
        try disk.writeFully(file, bytes, at: 0)
        try disk.synchronizeFile(file, dataOnly: false)
        try disk.synchronizeNames(in: "/var/saker")
        disk.close(file)
        return disk
    }

    /// What is left without one record.
    private func expected(_ records: [(range: Range<Int>, record: AlarmFormat.Record)], without lost: Int?) -> Content {
        var content = Content(alarms: [], isOwed: [], confirmed: [], states: [], traces: [])
        var states: [JournalFenceState] = []
        func take(_ record: AlarmFormat.Record) {
            switch record {
            case .alarm(let alarm):
                content.alarms.append(alarm.number)
                if alarm.isOwed { content.isOwed.append(alarm.number) }
            case .finished(let number): content.isOwed.removeAll { $0 == number }
            case .update(let number, _): if content.alarms.contains(number) { content.confirmed.append(number) }
            case .dropped(let trace): content.traces.append(trace.number)
            case .state(let state):
                states.removeAll { $0.entity == state.entity && $0.service == state.service }
                states.append(state)
            case .verdict(let parts): for part in parts { take(part.record) }
            }
        }
        for (index, record) in records.enumerated() where index != lost { take(record.record) }
        content.states = Set(states)
        return content
    }

    @Test func aFlippedBitCostsTheRecordInWhichItIs() throws {
        let (bytes, records) = try sample()
        #expect(try read(file(bytes)).content == expected(records, without: nil))
        for offset in bytes.indices {
            var damaged = bytes
            damaged[offset] ^= 1 << UInt8(offset % 8)
            let lost = records.firstIndex { $0.range.contains(offset) }
            let (content, journal) = try read(file(damaged))
            guard content == expected(records, without: lost) else {
                Issue.record("byte \(offset), record \(lost ?? -1): \(content)")
                return
            }
            let isLast = lost == records.count - 1
            #expect(journal.counters.damaged == (isLast ? 0 : 1) && journal.counters.tornTails == (isLast ? 1 : 0))
            #expect(journal.nextNumber > (content.alarms.last ?? 0))
        }
    }

    /// Bytes that are gone, or that were never written, anywhere.
    @Test func aPlaceWithoutSenseCostsTheRecordsThatItTouches() throws {
        let (bytes, records) = try sample()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let start = Int.random(in: AlarmFormat.headerBytes..<bytes.count, using: &generator)
            let end = min(bytes.count, start + Int.random(in: 1...300, using: &generator))
            var damaged = bytes
            let isZero = Bool.random(using: &generator)
            for offset in start..<end { damaged[offset] = isZero ? 0 : UInt8.random(in: 0...255, using: &generator) }
            let touched = records.indices.filter {
                records[$0].range.overlaps(start..<end) && damaged[records[$0].range] != bytes[records[$0].range]
            }
            let left = records.indices.filter { !touched.contains($0) }.map { records[$0] }
            let found = try read(file(damaged)).content
            #expect(found == expected(left, without: nil), "\(start)..<\(end), zero: \(isZero)")
        }
    }

    /// What a power cut leaves of a verdict that was never synchronised: not even the whole alarms in it count.
    @Test func anAlarmWithoutItsVerdictDoesNotCount() throws {
        let (bytes, records) = try sample()
        let verdict = try #require(records.first { if case .verdict = $0.record { true } else { false } })
        for cut in verdict.range.dropFirst() {
            var torn = Array(bytes[..<cut])
            #expect(try read(file(torn)).content.alarms == [1], "cut at \(cut)")
            // The first sector is missing, and the others are there.
            torn = Array(bytes[..<verdict.range.upperBound])
            for offset in verdict.range.lowerBound..<cut { torn[offset] = 0 }
            #expect(try read(file(torn)).content.alarms == [1], "zero up to \(cut)")
        }
    }

    @Test func aCraftedFileDoesNotHoldUpTheStart() throws {
        var bytes = AlarmFormat.header(nextNumber: 1)
        // Each offset looks like a long verdict.
        for _ in 0..<100_000 { bytes += [5, 0, 5, 0, 5, 0, 5, 0] }
        let clock = ContinuousClock()
        let time = try clock.measure { _ = try read(file(bytes)) }
        #expect(time < .seconds(60))
    }
}
