internal import Compression
internal import DiskRing
internal import TrackModel

/// The bytes of the alarm journal; the layout is in docs/formats/alarm-journal.md.
enum AlarmFormat {
    static let headerBytes = 24
    static let recordBytes = 48
    static let markBytes = 8
    static let earlyBytes = 24
    static let serviceBytes = 8
    private static let partMark: UInt8 = 1
    static let maximumRecordBytes =
        recordBytes + markBytes + earlyBytes + serviceBytes + NewAlarm.maximumEntityBytes + NewAlarm.maximumBodyBytes
    /// Of a state, and of alarms with their state.
    static let maximumVerdictBytes = 1 << 20
    private static let magic: [UInt8] = Array("SAKER-AL".utf8)
    private static let version: UInt16 = 1

    enum Record: Hashable {
        case alarm(JournalAlarm)
        /// All hooks of this alarm have ended.
        case finished(UInt64)
        /// What has become of an alarm.
        case update(UInt64, AlarmUpdate)
        /// The size limit has dropped this alarm.
        case dropped(AlarmTrace)
        /// What is remembered of an entity; it replaces earlier ones.
        case state(JournalFenceState)
        /// Alarms and a state that count together, each with its place in the record and its length.
        case verdict([Part])
    }

    struct Part: Hashable {
        let offset: Int
        let length: Int
        let record: Record
    }

    private enum Kind {
        static let alarm: UInt8 = 1
        static let finished: UInt8 = 2
        static let dropped: UInt8 = 3
        static let state: UInt8 = 4
        static let verdict: UInt8 = 5
        static let fenceAlarm: UInt8 = 6
        static let earlyAlarm: UInt8 = 7
        static let update: UInt8 = 8
        static let serverState: UInt8 = 9
    }

    /// In the byte of flags: the number of the service stands before the entity's name.
    private static let hasService: UInt8 = 16

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

    /// A sound header of a version that this agent does not know.
    static func isOfLaterVersion(_ bytes: [UInt8]) -> Bool {
        bytes.count >= headerBytes && bytes.starts(with: magic) && bytes.integer(at: 8, as: UInt16.self) != version
            && bytes.integer(at: 12) == headerSum(bytes)
    }

    private static func headerSum(_ bytes: [UInt8]) -> UInt32 {
        crc32(bytes[16..<headerBytes], continuing: crc32(bytes[..<12]))
    }

    // MARK: Records

    static func encode(_ record: Record) -> [UInt8] {
        switch record {
        case .finished(let number): encode(Kind.finished, number: number)
        case .update(let number, let update): encode(Kind.update, number: number, flags: update.flags)
        case .dropped(let trace):
            encode(
                Kind.dropped, number: trace.number,
                content: NewAlarm(id: trace.id, type: 0, entity: "", time: trace.serverTime, received: 0, body: ""))
        case .alarm(let alarm):
            encode(
                kind(of: alarm.content), number: alarm.number,
                flags: (alarm.isOwed ? 1 : 0) | AlarmUpdate(alarm).flags | serviceFlag(of: alarm.content),
                content: alarm.content,
                body: encodeMarks(of: alarm.content) + Array(alarm.content.entity.utf8)
                    + Array(alarm.content.body.utf8))
        case .state(let state):
            encode(
                state.service == nil ? Kind.state : Kind.serverState, number: 0,
                content: NewAlarm(
                    id: UInt64(bitPattern: state.service ?? 0), type: 0, entity: state.entity, time: state.time,
                    received: 0, body: ""),
                body: Array(state.entity.utf8) + state.fenceState)
        case .verdict(let parts): encode(Kind.verdict, number: 0, body: parts.flatMap { encodePart($0.record) })
        }
    }

    /// A record inside a verdict bears a mark in bytes that earlier versions wrote as 0 and do not read. Without its verdict it
    /// does not count.
    private static func encodePart(_ record: Record) -> [UInt8] {
        var bytes = encode(record)
        guard let offset = markOffset(of: bytes) else { return bytes }
        bytes[offset] = partMark
        bytes.setInteger(sum(bytes[...]), at: 4)
        return bytes
    }

    /// Whether a record belongs into a verdict. Earlier versions wrote no mark.
    static func isPart(_ bytes: [UInt8]) -> Bool { markOffset(of: bytes).map { bytes[$0] == partMark } ?? false }

    /// In a state the type, which it does not have; in an alarm the byte behind the kind of the alarm.
    private static func markOffset(of bytes: [UInt8]) -> Int? {
        switch bytes[8] {
        case Kind.state, Kind.serverState: 12
        case Kind.fenceAlarm, Kind.earlyAlarm: recordBytes + 5
        default: nil
        }
    }

    private static func kind(of content: NewAlarm) -> UInt8 {
        guard content.fence != nil else { return Kind.alarm }
        return content.early == nil ? Kind.fenceAlarm : Kind.earlyAlarm
    }

    private static func encodeMarks(of content: NewAlarm) -> [UInt8] {
        guard let mark = content.fence else { return [] }
        var bytes: [UInt8] = []
        bytes.appendInteger(UInt32(bitPattern: mark.fence))
        bytes.appendInteger(UInt32(mark.action.rawValue))
        if let early = content.early {
            bytes.appendInteger(early.sequence)
            bytes += early.stream.bytes
        }
        if let service = content.service { bytes.appendInteger(UInt64(bitPattern: service)) }
        return bytes
    }

    private static func serviceFlag(of content: NewAlarm) -> UInt8 {
        content.fence != nil && content.service != nil ? hasService : 0
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
    static func length(_ bytes: [UInt8]) -> Int? { length(bytes, at: 0) }

    /// The same of a record at an offset.
    static func length(_ bytes: [UInt8], at offset: Int) -> Int? {
        guard bytes.count >= offset + recordBytes else { return nil }
        let length = Int(bytes.integer(at: offset, as: UInt32.self))
        guard (recordBytes...maximumVerdictBytes).contains(length) else { return nil }
        let kind = bytes[offset + 8]
        let isLong = kind == Kind.state || kind == Kind.serverState || kind == Kind.verdict
        return isLong || length <= maximumRecordBytes ? length : nil
    }

    /// Nil when the checksum is wrong or the kind is unknown.
    static func decode(_ bytes: [UInt8]) -> Record? {
        guard length(bytes) == bytes.count, bytes.integer(at: 4) == sum(bytes[...]) else { return nil }
        let number: UInt64 = bytes.integer(at: 16)
        guard number < .max / 2 else { return nil }
        switch bytes[8] {
        case Kind.alarm: return alarm(number, bytes, at: recordBytes)
        case Kind.fenceAlarm, Kind.earlyAlarm:
            guard bytes.count >= recordBytes + markBytes,
                let action = AlarmFence.Action(rawValue: bytes[recordBytes + 4])
            else { return nil }
            let fence = Int32(bitPattern: bytes.integer(at: recordBytes, as: UInt32.self))
            let mark = AlarmFence(fence: fence, action: action)
            var end = recordBytes + markBytes
            var early: EarlyAlarmPoint?
            if bytes[8] == Kind.earlyAlarm {
                guard bytes.count >= end + earlyBytes, let stream = StreamID(bytes: bytes[(end + 8)..<(end + 24)])
                else { return nil }
                early = EarlyAlarmPoint(stream: stream, sequence: bytes.integer(at: end))
                end += earlyBytes
            }
            var service: Int64?
            if bytes[9] & hasService != 0 {
                guard bytes.count >= end + serviceBytes else { return nil }
                service = Int64(bitPattern: bytes.integer(at: end))
                end += serviceBytes
            }
            return alarm(number, bytes, at: end, mark: mark, early: early, service: service)
        case Kind.finished: return .finished(number)
        case Kind.update: return AlarmUpdate(flags: bytes[9]).map { .update(number, $0) }
        case Kind.dropped:
            return .dropped(
                AlarmTrace(
                    number: number, id: bytes.integer(at: 24),
                    serverTime: Int64(bitPattern: bytes.integer(at: 32))))
        case Kind.state, Kind.serverState:
            guard let (entity, end) = entity(bytes, at: recordBytes) else { return nil }
            return .state(
                JournalFenceState(
                    entity: entity, time: Int64(bitPattern: bytes.integer(at: 32)), fenceState: Array(bytes[end...]),
                    service: bytes[8] == Kind.serverState ? Int64(bitPattern: bytes.integer(at: 24)) : nil))
        case Kind.verdict: return parts(bytes).map { .verdict($0) }
        default: return nil
        }
    }

    /// `offset`: where the entity's name begins.
    private static func alarm(
        _ number: UInt64, _ bytes: [UInt8], at offset: Int, mark: AlarmFence? = nil, early: EarlyAlarmPoint? = nil,
        service: Int64? = nil
    ) -> Record? {
        guard let (entity, end) = entity(bytes, at: offset),
            let body = String(validating: bytes[end...], as: UTF8.self), let update = AlarmUpdate(flags: bytes[9])
        else { return nil }
        let content = NewAlarm(
            id: bytes.integer(at: 24), type: bytes.integer(at: 12), entity: entity,
            time: Int64(bitPattern: bytes.integer(at: 32)), received: Int64(bitPattern: bytes.integer(at: 40)),
            body: body, fence: mark, early: early, service: service)
        return .alarm(
            JournalAlarm(
                number: number, content: content, isOwed: bytes[9] & 1 != 0, isConfirmed: update.isConfirmed,
                report: update.report))
    }

    /// The entity's name at an offset, and where it ends.
    private static func entity(_ bytes: [UInt8], at offset: Int) -> (String, Int)? {
        let end = offset + Int(bytes.integer(at: 10, as: UInt16.self))
        guard end <= bytes.count, let entity = String(validating: bytes[offset..<end], as: UTF8.self)
        else { return nil }
        return (entity, end)
    }

    /// The records inside a verdict: alarms, then one state; nil when there is anything else.
    private static func parts(_ bytes: [UInt8]) -> [Part]? {
        var parts: [Part] = []
        var offset = recordBytes
        while offset < bytes.count {
            let head = Array(bytes[offset..<min(offset + recordBytes, bytes.count)])
            guard let length = length(head), offset + length <= bytes.count, head[8] != Kind.verdict,
                let record = decode(Array(bytes[offset..<(offset + length)]))
            else { return nil }
            parts.append(Part(offset: offset, length: length, record: record))
            offset += length
        }
        return parts
    }

    /// The CRC-32 of the record without the checksum field.
    private static func sum(_ record: ArraySlice<UInt8>) -> UInt32 {
        let start = record.startIndex
        return crc32(record[(start + 8)...], continuing: crc32(record[start..<(start + 4)]))
    }
}
