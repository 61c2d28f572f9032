internal import TrackModel

/// The name of an alarm that agent and server derive alike from the same points and revisions. It makes an alarm heard once.
package struct AlarmKey: Hashable, Sendable {
    /// Sixteen bytes: the first half of a SHA-256 digest.
    package let bytes: [UInt8]

    /// Of service, source, fence, revision, group, entity, the causing point's time, action, and the number within the point.
    package init(_ alarm: FenceAlarm, in scope: AlarmScope) {
        var message = Array("saker alarm 1".utf8) + [scope.source.rawValue]
        Self.append(scope.service, to: &message)
        Self.append(Int64(alarm.fence), to: &message)
        Self.append(Int64(alarm.revision), to: &message)
        message.append(alarm.group == nil ? 0 : 1)
        Self.append(Int64(bitPattern: alarm.group?.rawValue ?? 0), to: &message)
        Self.append(alarm.point.time.milliseconds, to: &message)
        Self.append(Int64(alarm.number), to: &message)
        Self.append(Int64(alarm.action.rawValue.utf8.count), to: &message)
        message += Array(alarm.action.rawValue.utf8)
        message += Array(scope.entity.utf8)
        bytes = Array(SHA256.hash(message).prefix(16))
    }

    /// Nil unless given sixteen bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Nil unless given 32 hexadecimal digits.
    package init?(text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32, text.utf8.count == 32 else { return nil }
        bytes = stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// 32 hexadecimal digits.
    package var text: String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// The number of the push that tells this alarm to an entity: positive, 63 bits.
    package func pushID(to target: String) -> Int64 {
        let digest = SHA256.hash(Array("saker push 1".utf8) + bytes + Array(target.utf8))
        let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & UInt64(Int64.max)
        return max(Int64(number), 1)
    }

    private static func append(_ number: Int64, to message: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) { message.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
