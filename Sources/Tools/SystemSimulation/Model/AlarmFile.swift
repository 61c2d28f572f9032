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
    }

    struct Trace: Hashable {
        let number: UInt64
        let id: UInt64
        let time: Int64
    }

    /// In the order of the file.
    private(set) var alarms: [Alarm] = []
    private(set) var traces: [Trace] = []
    let bytes: [UInt8]

    /// Nil: no alarm journal.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count >= 24, bytes.starts(with: "SAKER-AL".utf8), number(8, 2) == 1 else { return nil }
        guard number(12, 4) == UInt64(crc32(bytes[16..<24], continuing: crc32(bytes[..<12]))) else { return nil }
        var start = 24
        var ended: Set<UInt64> = []
        while start + 48 <= bytes.count {
            let end = start + Int(number(start, 4))
            guard end >= start + 48, end <= bytes.count, end - start <= 16_560 else { break }
            defer { start = end }
            let sum = crc32(bytes[(start + 8)..<end], continuing: crc32(bytes[start..<(start + 4)]))
            guard number(start + 4, 4) == UInt64(sum) else { continue }
            let (own, id) = (number(start + 16, 8), number(start + 24, 8))
            let time = Int64(bitPattern: number(start + 32, 8))
            switch bytes[start + 8] {
            case 1:
                let middle = start + 48 + Int(number(start + 10, 2))
                guard middle <= end else { continue }
                alarms.append(
                    Alarm(
                        number: own, id: id, type: UInt32(number(start + 12, 4)), time: time,
                        isOwed: bytes[start + 9] & 1 == 1, entity: (start + 48)..<middle, content: middle..<end))
            case 2: ended.insert(own)
            case 3: traces.append(Trace(number: own, id: id, time: time))
            default: break
            }
        }
        for index in alarms.indices where ended.contains(alarms[index].number) { alarms[index].isOwed = false }
    }

    /// Without what an append wrote that then failed: the journal does not have it, and writes over it.
    mutating func leaveOut(after number: UInt64) { alarms.removeAll { $0.number > number } }

    private func number(_ offset: Int, _ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return value
    }
}
