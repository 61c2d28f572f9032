internal import Compression
package import TrackModel

/// One record as it was appended.
package struct CacheRecord: Hashable, Sendable {
    package let sequence: UInt64
    /// Milliseconds, whatever the caller counts from; the cache compares it with the ranges it is asked for, no more.
    package let time: Int64
    package let payload: [UInt8]

    package init(sequence: UInt64, time: Int64, payload: [UInt8]) {
        self.sequence = sequence
        self.time = time
        self.payload = payload
    }
}

/// Records of one entity with consecutive sequences, at least one.
package struct CacheBatch: Hashable, Sendable {
    /// Always the cache's `streamID` at the time of reading.
    package let stream: StreamID
    package let entity: String
    package let firstSequence: UInt64
    package let records: [CacheRecord]

    package var lastSequence: UInt64 { firstSequence + UInt64(records.count) - 1 }
}

/// What is waiting for one entity.
package struct EntityCacheInfo: Hashable, Sendable {
    package let entity: String
    package var count: UInt64
    /// Milliseconds, as appended.
    package var firstTime: Int64
    package var lastTime: Int64
    /// Payload bytes.
    package var bytes: UInt64

    package init(entity: String, count: UInt64, firstTime: Int64, lastTime: Int64, bytes: UInt64) {
        self.entity = entity
        self.count = count
        self.firstTime = firstTime
        self.lastTime = lastTime
        self.bytes = bytes
    }
}

/// What a clear removed.
package struct ClearedCount: Hashable, Sendable {
    package var records: UInt64
    /// False when the disk does not work: the clear holds for this process and is written when the disk returns.
    package var isDurable: Bool
}

/// The bytes of one record; the layout is in docs/formats/track-cache.md.
enum RecordFormat {
    static let headerBytes = 28
    static let maximumBody = 65_536
    static let maximumBytes = headerBytes + maximumBody
    static let maximumEntityBytes = EntityName.maximumBytes

    enum Kind: UInt8 {
        case point = 1
        case entity = 2
        case tombstone = 3
    }

    /// Where a record's CRC begins: bytes that carry a record of another stream never verify.
    static func salt(of stream: StreamID) -> UInt32 { crc32(stream.bytes) }

    static func append(
        _ kind: Kind, sequence: UInt64, time: Int64, entity: UInt16, body: some Collection<UInt8>, salt: UInt32,
        to bytes: inout [UInt8]
    ) {
        let start = bytes.count
        let length = UInt32(headerBytes + body.count)
        bytes.appendInteger(length)
        bytes.appendInteger(UInt32(0))
        bytes.appendInteger(sequence)
        bytes.appendInteger(UInt64(bitPattern: time))
        bytes.appendInteger(entity)
        bytes.append(kind.rawValue)
        bytes.append(0)
        bytes.append(contentsOf: body)
        let sum = unsafe bytes.withUnsafeBytes { all in
            unsafe checksum(of: UnsafeRawBufferPointer(rebasing: all[start...]), salt: salt)
        }
        for index in 0..<4 { bytes[start + 4 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
    }

    /// CRC-32 of a whole record but its CRC field; at least `headerBytes` must be given.
    static func checksum(of record: UnsafeRawBufferPointer, salt: UInt32) -> UInt32 {
        let length = unsafe crc32(UnsafeRawBufferPointer(rebasing: record[..<4]), continuing: salt)
        return unsafe crc32(UnsafeRawBufferPointer(rebasing: record[8...]), continuing: length)
    }
}

extension Array where Element == UInt8 {
    /// Least significant byte first.
    package mutating func appendInteger(_ value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Least significant byte first; the caller has checked the bounds.
    package func integer<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type = Value.self) -> Value {
        var value: Value = 0
        for index in 0..<(Value.bitWidth / 8) { value |= Value(self[offset + index]) << (8 * index) }
        return value
    }

    package mutating func setInteger(_ value: some FixedWidthInteger, at offset: Int) {
        for index in 0..<(value.bitWidth / 8) { self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
    }
}
