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
