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

/// Whose alarms: together with what an alarm says, it makes the alarm's key.
package struct AlarmScope: Hashable, Sendable {
    /// Fences that the agent has of its own, and fences of the server, are two spaces of numbers.
    package enum Source: UInt8, Hashable, Sendable {
        case local = 4
        case server = 3
    }

    /// The service's number.
    package let service: Int64
    package let entity: String
    package let source: Source

    package init(service: Int64, entity: String, source: Source) {
        self.service = service
        self.entity = entity
        self.source = source
    }
}

/// SHA-256 (FIPS 180-4), for keys that every machine derives alike. Keys are few; speed does not matter here.
///
/// This room has a copy of its own, although the server has swift-crypto and the agent has OpenSSL: the room is pure and part of
/// both programs. OpenSSL has one owner, `SecureLink`. swift-crypto brings BoringSSL, a second library of this kind, which
/// the agent's size does not allow. The standard's examples test the copy.
enum SHA256 {
    /// The 32 bytes of the digest.
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        var padded = message
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) * 8
        for shift in stride(from: 56, through: 0, by: -8) { padded.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        for start in stride(from: 0, to: padded.count, by: 64) { add(padded[start..<start + 64], to: &state) }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        var schedule: [UInt32] = []
        schedule.reserveCapacity(64)
        for first in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            schedule.append(block[first..<first + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<64 {
            let (old, recent) = (schedule[index - 15], schedule[index - 2])
            let first = rotated(old, 7) ^ rotated(old, 18) ^ (old >> 3)
            let second = rotated(recent, 17) ^ rotated(recent, 19) ^ (recent >> 10)
            schedule.append(schedule[index - 16] &+ first &+ schedule[index - 7] &+ second)
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let mixed = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let chosen = (e & f) ^ (~e & g)
            let first = h &+ mixed &+ chosen &+ constants[index] &+ schedule[index]
            let turned = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let second = turned &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = {
        var primes: [Int] = []
        var candidate = 2
        while primes.count < 64 {
            if !primes.contains(where: { candidate.isMultiple(of: $0) }) { primes.append(candidate) }
            candidate += 1
        }
        return primes.map(fractionOfCubeRoot)
    }()

    /// The largest whole number whose cube is at most the prime times 2 to the power of 96, without its whole part.
    private static func fractionOfCubeRoot(_ prime: Int) -> UInt32 {
        var root: UInt64 = 0
        let limit = UInt128(prime) << 96
        for bit in stride(from: 34, through: 0, by: -1) {
            let next = UInt128(root | 1 << UInt64(bit))
            if next * next * next <= limit { root |= 1 << UInt64(bit) }
        }
        return UInt32(truncatingIfNeeded: root)
    }
}
