import Geofencing
import Testing
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

        init(number: Int32, encoded bytes: [UInt8], isKnown: Bool = false) {
            self.number = number
            encoded = bytes
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
