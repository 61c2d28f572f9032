import Compression
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackWire

/// What no payload may do, whoever made it: crash, hang, or take memory its bytes do not account for.
@Suite struct BatchHostilityTests {
    @Test func everyTruncationIsRefused() throws {
        for seed in Dice.seeds(20) {
            var random = Dice(seed: seed)
            let bytes = BatchEncoder.encode(RandomTrack.wild(count: 7, using: &random))
            for length in 0..<bytes.count {
                #expect(throws: WireError.self, "seed \(seed), length \(length)") {
                    try BatchCodec.decode(Array(bytes.prefix(length)), isCompressed: false)
                }
            }
            #expect(throws: WireError(.malformed, ""), "seed \(seed)") {
                try BatchCodec.decode(bytes + [0], isCompressed: false)
            }
        }
    }

    @Test func randomBytesNeverCrash() {
        for seed in Dice.seeds(20_000) {
            var random = Dice(seed: seed)
            let count = Int.random(in: 0...80, using: &random)
            let bytes =
                [UInt8.random(in: 1...3, using: &random)]
                + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            check(bytes, seed)
        }
    }

    @Test func mutatedPayloadsNeverCrash() {
        for seed in Dice.seeds(400) {
            var random = Dice(seed: seed)
            let count = Int.random(in: 1...40, using: &random)
            let whole = BatchEncoder.encode(RandomTrack.wild(count: count, using: &random))
            for _ in 0..<20 {
                var bytes = whole
                for _ in 0...Int.random(in: 0...4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0...3, using: &random) {
                    case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
                    case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
                    case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                    default: if bytes.count > 1 { bytes.remove(at: place) }
                    }
                }
                check(bytes, seed)
            }
        }
    }

    /// Whatever decodes must also survive being encoded and decoded again.
    private func check(_ bytes: [UInt8], _ seed: UInt64) {
        let packed = Result { try BatchCodec.decodePacked(bytes, isCompressed: false, maximumCount: 1000) }
        let read = Result { try BatchCodec.decode(bytes, isCompressed: false, maximumCount: 1000) }
        switch (read, packed) {
        case (.success(let points), .success(let packed)): #expect(points.count == packed.count, "seed \(seed)")
        case (.failure(let error), .failure(let other)): #expect("\(error)" == "\(other)", "seed \(seed)")
        default: Issue.record("packed points are read otherwise, seed \(seed)")
        }
        guard let points = try? read.get() else { return }
        #expect(points.count <= 1000, "seed \(seed)")
        let again = BatchCodec.encode(points)
        let decoded = try? BatchCodec.decode(again.bytes, isCompressed: again.isCompressed)
        // A decoded double may be no number, which equals nothing; the count still must agree.
        #expect(decoded?.count == points.count, "seed \(seed)")
    }

    @Test func aFewBytesCannotClaimAThousandMillionPoints() {
        var bits = BitWriter(startingWith: [1])
        bits.writeGolomb(1_000_000_000, order: ColumnShape.countOrder)
        bits.write(0, bits: 64)
        bits.align()
        #expect(throws: WireError(.tooLarge, "")) { try BatchCodec.decode(bits.bytes, isCompressed: false) }
        #expect(throws: WireError(.tooLarge, "")) {
            try BatchCodec.decode(BatchEncoder.encode(constant(1001)), isCompressed: false, maximumCount: 1000)
        }
    }

    @Test func aConstantTrackIsShortAndBounded() throws {
        let points = constant(WireLimits.payloadPoints)
        let bytes = BatchEncoder.encode(points)
        #expect(bytes.count < 40)
        #expect(try BatchCodec.decode(bytes, isCompressed: false) == points)
    }

    @Test func attributesAreBoundedInTotal() {
        var points = constant(WireLimits.payloadPoints)
        for key in 0..<4 { for row in points.indices { points[row].attributes["k\(key)"] = .integer(1) } }
        let allowed = BatchEncoder.encode(points)
        #expect(throws: Never.self) { try BatchCodec.decode(allowed, isCompressed: false) }
        points[0].attributes["one more"] = .integer(1)
        let tooMany = BatchEncoder.encode(points)
        #expect(tooMany.count < 200)
        #expect(throws: WireError(.tooLarge, "")) { try BatchCodec.decode(tooMany, isCompressed: false) }
    }

    @Test func aCompressionBombIsRefused() throws {
        let bomb = try Zlib.compress([UInt8](repeating: 1, count: WireLimits.plainPayloadBytes + 1))
        #expect(throws: WireError(.tooLarge, "")) { try BatchCodec.decode(bomb, isCompressed: true) }
    }

    @Test func otherVersionsAreNotGuessed() {
        #expect(throws: WireError(.unsupportedVersion, "")) { try BatchCodec.decode([5, 0, 0], isCompressed: false) }
        #expect(throws: WireError(.malformed, "")) { try BatchCodec.decode([], isCompressed: false) }
        #expect(throws: WireError(.malformed, "")) { try BatchCodec.decode([1, 2, 3], isCompressed: true) }
    }

    private func constant(_ count: Int) -> [TrackPoint] {
        guard let place = Coordinate(latitudeE7: 1, longitudeE7: 1) else { return [] }
        let point = TrackPoint(Fix(time: Timestamp(milliseconds: 1_800_000_000_000), coordinate: place))
        return Array(repeating: point, count: count)
    }
}
