internal import Compression

/// What an alarm journal holds, read after docs/formats/alarm-journal.md by code that the agent does not have.
struct AlarmFile {
    struct Alarm: Hashable {
        let number: UInt64
        let id: UInt64
        let type: UInt32
        /// By the server's clock, milliseconds since 1970.
        let time: Int64
        /// The alarm's own record says so, and no later record the contrary.
        var isOwed: Bool
        /// Where its entity and its content stand.
        let entity: Range<Int>
        let content: Range<Int>
        /// Of an alarm that the agent has found; nil: a push.
        var finding: Finding?
    }

    /// What more the journal has of an alarm that the agent has found.
    struct Finding: Hashable {
        let fence: Int32
        /// Of a server fence; otherwise of the vehicle's own.
        let isEarly: Bool
        /// The server has told it too, or was told of it.
        var isConfirmed: Bool
        /// 1: the server is to be told. 2: it has the alarm. 3: it will never take it.
        var report: UInt8
    }

    struct Trace: Hashable {
        let number: UInt64
        let id: UInt64
        let time: Int64
    }

    /// What is remembered of an entity.
    struct State: Hashable {
        let entity: [UInt8]
        let isServers: Bool
        /// Of the newest point that was judged, milliseconds since 1970.
        let time: Int64
        let memory: [UInt8]
    }

    /// Pushes, in the order of the file.
    private(set) var alarms: [Alarm] = []
    /// Alarms that the agent has found, in the order of the file.
    private(set) var findings: [Alarm] = []
    private(set) var traces: [Trace] = []
    /// Traces that were left out.
    private(set) var otherTraces = 0
    /// The newest of each entity.
    private(set) var states: [State] = []
    /// Alarms with a record that says that their hooks have ended.
    private(set) var ended: Set<UInt64> = []
    let bytes: [UInt8]

    private static let mostBytes = 16_600
    private static let mostVerdictBytes = 1 << 20

    /// Nil: no alarm journal.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count >= 24, bytes.starts(with: "SAKER-AL".utf8), number(8, 2) == 1 else { return nil }
        guard number(12, 4) == UInt64(crc32(bytes[16..<24], continuing: crc32(bytes[..<12]))) else { return nil }
        read(24..<bytes.count)
        for index in alarms.indices where ended.contains(alarms[index].number) { alarms[index].isOwed = false }
        for index in findings.indices where ended.contains(findings[index].number) { findings[index].isOwed = false }
    }

    /// Records, one behind the other. Behind what is none, the next one is looked for. `isVerdict`: records of a verdict, which do
    /// not count without it.
    private mutating func read(_ range: Range<Int>, isVerdict: Bool = false) {
        var start = range.lowerBound
        while start + 48 <= range.upperBound {
            guard let end = end(ofRecordAt: start, upTo: range.upperBound) else {
                start += 1
                continue
            }
            if isVerdict || !bearsMark(start) { take(bytes[start + 8], start..<end) }
            start = end
        }
    }

    private func end(ofRecordAt start: Int, upTo limit: Int) -> Int? {
        let end = start + Int(number(start, 4))
        let most = [4, 5, 9].contains(bytes[start + 8]) ? Self.mostVerdictBytes : Self.mostBytes
        guard end >= start + 48, end <= limit, end - start <= most else { return nil }
        let sum = crc32(bytes[(start + 8)..<end], continuing: crc32(bytes[start..<(start + 4)]))
        return number(start + 4, 4) == UInt64(sum) ? end : nil
    }

    /// It stood in a verdict.
    private func bearsMark(_ start: Int) -> Bool {
        switch bytes[start + 8] {
        case 4, 9: number(start + 12, 4) == 1
        case 6, 7: bytes[start + 53] == 1
        default: false
        }
    }

    private mutating func take(_ kind: UInt8, _ record: Range<Int>) {
        let start = record.lowerBound
        let (own, id) = (number(start + 16, 8), number(start + 24, 8))
        let time = Int64(bitPattern: number(start + 32, 8))
        switch kind {
        case 1, 6, 7:
            let marks = kind == 1 ? 0 : kind == 6 ? 8 : 32
            // The number of a service, in an alarm that the agent has found.
            let service = kind != 1 && bytes[start + 9] & 16 != 0 ? 8 : 0
            let first = start + 48 + marks + service
            let middle = first + Int(number(start + 10, 2))
            guard middle <= record.upperBound else { return }
            var alarm = Alarm(
                number: own, id: id, type: UInt32(number(start + 12, 4)), time: time,
                isOwed: bytes[start + 9] & 1 == 1, entity: first..<middle, content: middle..<record.upperBound)
            guard kind != 1 else { return alarms.append(alarm) }
            let flags = bytes[start + 9]
            alarm.finding = Finding(
                fence: Int32(truncatingIfNeeded: number(start + 48, 4)), isEarly: kind == 7,
                isConfirmed: flags & 2 != 0, report: flags >> 2 & 3)
            findings.append(alarm)
        case 2: ended.insert(own)
        case 3: traces.append(Trace(number: own, id: id, time: time))
        case 4, 9:
            let middle = start + 48 + Int(number(start + 10, 2))
            guard middle <= record.upperBound else { return }
            let state = State(
                entity: Array(bytes[(start + 48)..<middle]), isServers: kind == 9, time: time,
                memory: Array(bytes[middle..<record.upperBound]))
            states.removeAll { $0.entity == state.entity && $0.isServers == state.isServers }
            states.append(state)
        case 5: read((start + 48)..<record.upperBound, isVerdict: true)
        case 8:
            guard let index = findings.firstIndex(where: { $0.number == own }) else { return }
            let flags = bytes[start + 9]
            if flags & 2 != 0 { findings[index].finding?.isConfirmed = true }
            if flags >> 2 & 3 != 0 { findings[index].finding?.report = flags >> 2 & 3 }
        default: break
        }
    }

    /// Without what an append wrote that then failed: the journal does not have it, and writes over it.
    mutating func leaveOut(after number: UInt64) {
        alarms.removeAll { $0.number > number }
        findings.removeAll { $0.number > number }
    }

    /// Leaves out alarms and traces that others look after. Alarms that the agent has found are such.
    mutating func keep(_ isKept: (UInt64) -> Bool) {
        let count = traces.count
        alarms.removeAll { !isKept($0.id) }
        traces.removeAll { !isKept($0.id) }
        findings = []
        otherTraces += count - traces.count
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func number(_ offset: Int, _ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return value
    }
}
