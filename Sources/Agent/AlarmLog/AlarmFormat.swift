internal import Compression
internal import TrackCache

/// The bytes of the alarm journal; the layout is in docs/formats/alarm-journal.md.
enum AlarmFormat {
    static let headerBytes = 24
    static let recordBytes = 48
    static let maximumRecordBytes = recordBytes + NewAlarm.maximumEntityBytes + NewAlarm.maximumBodyBytes
    private static let magic: [UInt8] = Array("SAKER-AL".utf8)
    private static let version: UInt16 = 1

    enum Record: Hashable {
        case alarm(Alarm)
        /// All hooks of this alarm have ended.
        case finished(UInt64)
        /// The size limit has dropped this alarm.
        case dropped(AlarmTrace)
    }

    // MARK: Header

    /// `nextNumber`: no alarm that is added to this file later has a lower number.
    static func header(nextNumber: UInt64) -> [UInt8] {
        var bytes = magic
        bytes.appendInteger(version)
        bytes.appendInteger(UInt16(0))
        bytes.appendInteger(UInt32(0))
        bytes.appendInteger(nextNumber)
        bytes.setInteger(headerSum(bytes), at: 12)
        return bytes
    }

    /// The next number; nil when the bytes are no header, or one of an unknown version.
    static func nextNumber(ofHeader bytes: [UInt8]) -> UInt64? {
        guard bytes.count >= headerBytes, bytes.starts(with: magic), bytes.integer(at: 8) == version,
            bytes.integer(at: 12) == headerSum(bytes)
        else { return nil }
        let number: UInt64 = bytes.integer(at: 16)
        return number > 0 && number < .max / 2 ? number : nil
    }

    private static func headerSum(_ bytes: [UInt8]) -> UInt32 {
        crc32(bytes[16..<headerBytes], continuing: crc32(bytes[..<12]))
    }

    // MARK: Records

    static func encode(_ record: Record) -> [UInt8] {
        switch record {
        case .finished(let number): encode(2, number: number)
        case .dropped(let trace):
            encode(
                3, number: trace.number,
                content: NewAlarm(id: trace.id, type: 0, entity: "", time: trace.serverTime, received: 0, body: ""))
        case .alarm(let alarm):
            encode(
                1, number: alarm.number, flags: alarm.isOwed ? 1 : 0, content: alarm.content,
                body: Array(alarm.content.entity.utf8) + Array(alarm.content.body.utf8))
        }
    }

    private static func encode(
        _ kind: UInt8, number: UInt64, flags: UInt8 = 0,
        content: NewAlarm = NewAlarm(id: 0, type: 0, entity: "", time: 0, received: 0, body: ""), body: [UInt8] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(recordBytes + body.count)
        bytes.appendInteger(UInt32(recordBytes + body.count))
        bytes.appendInteger(UInt32(0))
        bytes.append(kind)
        bytes.append(flags)
        bytes.appendInteger(UInt16(content.entity.utf8.count))
        bytes.appendInteger(content.type)
        bytes.appendInteger(number)
        bytes.appendInteger(content.id)
        bytes.appendInteger(UInt64(bitPattern: content.time))
        bytes.appendInteger(UInt64(bitPattern: content.received))
        bytes += body
        bytes.setInteger(sum(bytes[...]), at: 4)
        return bytes
    }

    /// The length of the first record, or nil when no record can have this length. The record itself may still be
    /// damaged.
    static func length(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= recordBytes else { return nil }
        let length = Int(bytes.integer(at: 0, as: UInt32.self))
        return (recordBytes...maximumRecordBytes).contains(length) ? length : nil
    }

    /// Nil when the checksum is wrong or the kind is unknown.
    static func decode(_ bytes: [UInt8]) -> Record? {
        guard length(bytes) == bytes.count, bytes.integer(at: 4) == sum(bytes[...]) else { return nil }
        let number: UInt64 = bytes.integer(at: 16)
        guard number < .max / 2 else { return nil }
        switch bytes[8] {
        case 1:
            let end = recordBytes + Int(bytes.integer(at: 10, as: UInt16.self))
            guard end <= bytes.count, let entity = String(validating: bytes[recordBytes..<end], as: UTF8.self),
                let body = String(validating: bytes[end...], as: UTF8.self)
            else { return nil }
            let content = NewAlarm(
                id: bytes.integer(at: 24), type: bytes.integer(at: 12), entity: entity,
                time: Int64(bitPattern: bytes.integer(at: 32)), received: Int64(bitPattern: bytes.integer(at: 40)),
                body: body)
            return .alarm(Alarm(number: number, content: content, isOwed: bytes[9] & 1 != 0))
        case 2: return .finished(number)
        case 3:
            return .dropped(
                AlarmTrace(
                    number: number, id: bytes.integer(at: 24),
                    serverTime: Int64(bitPattern: bytes.integer(at: 32))))
        default: return nil
        }
    }

    /// The CRC-32 of the record without the checksum field.
    private static func sum(_ record: ArraySlice<UInt8>) -> UInt32 {
        let start = record.startIndex
        return crc32(record[(start + 8)...], continuing: crc32(record[start..<(start + 4)]))
    }
}
