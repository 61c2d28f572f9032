import FenceDelivery
import Geodesy
import Geofencing
import Testing
import TrackModel
import TrackTestKit

@testable import LocalFences

/// Fences that are kept as bytes, beside a dictionary of the same fences.
@Suite struct KeptFencesTests {
    /// A fence without a shape: its bytes are itself.
    private struct Plain: KeepableFence {
        let number: Int32
        let encoded: [UInt8]
        var facts: UInt8 { encoded.first ?? 0 }
        var vertexCount: Int { encoded.count }
        var fenceStart: Int { 0 }
        static var mostTimeBytes: Int { 0 }
        static func times(in head: [UInt8]) -> [Int] { [] }

        init(number: Int32, encoded bytes: [UInt8], isKnown: Bool = false) {
            self.number = number
            encoded = bytes
        }
    }

    /// A fence that tells how often it was made.
    private struct Counted: KeepableFence {
        nonisolated(unsafe) static var count = 0
        let number: Int32
        let encoded: [UInt8]
        var facts: Int32 { number }
        var vertexCount: Int { 0 }
        var fenceStart: Int { 0 }
        static var mostTimeBytes: Int { 8 }
        static func times(in head: [UInt8]) -> [Int] { head.count < mostTimeBytes ? [] : [0] }

        init(number: Int32, encoded bytes: [UInt8], isKnown: Bool = false) {
            (self.number, encoded) = (number, bytes)
            Self.count += 1
        }
    }

    @Test func bytesAreReplacedWithoutMakingTheFence() {
        var kept = Kept<Counted>()
        for number in 1...100 as ClosedRange<Int32> {
            kept[number] = Counted(number: number, encoded: [1, 2, 3, 4, UInt8(number)])
        }
        let (bytes, before) = (kept.bytes, Counted.count)
        for number in 0...101 as ClosedRange<Int32> { kept.replace(number, from: 1, with: [7, 8]) }
        #expect(Counted.count == before)
        #expect(kept.encoded(42) == [1, 7, 8, 4, 42] && kept.facts(of: 42) == 42)
        #expect(kept.bytes == bytes && kept.count == 100)
    }

    @Test func aDateThatGoesBackMakesNoFence() {
        var kept = Kept<Counted>()
        for number in 1...100 as ClosedRange<Int32> {
            kept[number] = Counted(number: number, encoded: [UInt8(number), 0, 0, 0, 0, 0, 0, 0, 9])
        }
        let (bytes, before) = (kept.bytes, Counted.count)
        #expect(kept.begin(by: Timestamp(milliseconds: 40)) && !kept.begin(by: Timestamp(milliseconds: 40)))
        #expect(Counted.count == before && kept.bytes == bytes)
        #expect(kept.encoded(7)?.first == 7 && kept.encoded(99) == [40, 0, 0, 0, 0, 0, 0, 0, 9])
    }

    /// The oracle reads each fence, and looks at every time in it.
    @Test func noTimeLiesBehindADateThatWentBack() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed \(seed)")
        var dice = DiskDice(seed: seed)
        func time() -> Timestamp { Timestamp(milliseconds: .random(in: -1000...1000, using: &dice)) }
        for _ in 0..<200 {
            var (own, servers) = (KeptFences(), Kept<ServerFence>())
            for number in 1...3 as ClosedRange<Int32> {
                let fence = try Fence(id: number, circle(), at: time())
                var local = LocalFence(fence, since: time())
                local.revised = time()
                for entity in 0..<Int.random(in: 0...18, using: &dice) {
                    local.join(ExactName(String(repeating: "é", count: entity * 7) + "v\(entity)"), since: time())
                }
                own[number] = local
                var server = ServerFence(DeliveredFence(fence, since: time(), group: nil))
                server.revised = time()
                servers[number] = server
            }
            let (limit, before) = (time(), (own, servers))
            let changed = (own.begin(by: limit), servers.begin(by: limit))
            #expect(changed == (own != before.0, servers != before.1))
            for number in own.numbers {
                let (old, new) = (try #require(before.0[number]), try #require(own[number]))
                #expect(new.since == min(old.since, limit) && new.revised == min(old.revised, limit))
                #expect(new.joined.map(\.since) == old.joined.map { min($0.since, limit) })
                #expect(new.joined.map(\.entity) == old.joined.map(\.entity) && new.fence == old.fence)
                let (was, became) = (try #require(before.1[number]), try #require(servers[number]))
                #expect(became.since == min(was.since, limit) && became.revised == min(was.revised, limit))
                #expect(became.fence == was.fence && became.group == was.group)
            }
        }
    }

    /// The oracle makes each fence anew.
    @Test func timesAreSetAsIfTheFenceWereMadeAnew() throws {
        let line = (0..<300).map { Degrees(latitude: 40 + Double($0 % 2) / 1000, longitude: 116 + Double($0) / 1000) }
        let shapes = [
            circle(), FenceDefinition(ShapeDraft(.corridor(line, offset: 50))), circle(70) { $0.name = "gate" },
        ]
        let (old, new) = (Timestamp(milliseconds: -5), Timestamp(milliseconds: 1_795_000_000_123))
        for joined in [0, 3] {
            var (kept, model) = (KeptFences(), KeptFences())
            for (index, definition) in shapes.enumerated() {
                let number = Int32(index + 1)
                var fence = LocalFence(try Fence(id: number, definition, at: Timestamp(milliseconds: 1)), since: old)
                for entity in 0..<joined { fence.join(ExactName("van \(entity)"), since: old) }
                kept[number] = fence
                switch index {
                case 0: break
                case 1: (fence.since, fence.revised) = (new, new)
                default: fence.revised = new
                }
                model[number] = fence
            }
            kept.begin(2, since: new)
            kept.revise(3, at: new)
            kept.begin(9, since: new)
            #expect(kept == model)
            #expect(kept.numbers.allSatisfy { kept[$0] == model[$0] && kept.encoded($0) == model.encoded($0) })
        }
    }

    @Test func whatIsKeptIsWhatADictionaryHas() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = DiskDice(seed: seed)
        var kept = Kept<Plain>()
        var model: [Int32: Plain] = [:]
        for _ in 0..<4000 {
            let number = Int32.random(in: -60...60, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                kept[number] = nil
                model[number] = nil
            default:
                let bytes = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                    UInt8.random(in: 0...9, using: &random)
                }
                kept[number] = Plain(number: number, encoded: bytes)
                model[number] = kept[number]
            }
            let asked = Int32.random(in: -61...61, using: &random)
            #expect(kept[asked] == model[asked] && kept.contains(asked) == (model[asked] != nil), "seed \(seed)")
            #expect(
                kept.facts(of: asked) == model[asked]?.facts && kept.encoded(asked) == model[asked]?.encoded,
                "seed \(seed)")
            #expect(kept.numbers == model.keys.sorted() && kept.count == model.count, "seed \(seed)")
            #expect(
                kept.bytes == model.values.reduce(0) { $0 + $1.encoded.count } && kept.vertices == kept.bytes,
                "seed \(seed)")
        }
    }
}
