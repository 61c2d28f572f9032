import Testing
import TrackModel
import TrackStore
import TrackTestKit

@Suite struct ReceiveRunsTests {
    @Test func aStretchThatCameAtOnceNeedsNoRuns() {
        let encoded = ReceiveRuns.encode(Array(repeating: Timestamp.at(4), count: 9))
        #expect(encoded.first == .at(4))
        #expect(encoded.runs == nil)
        #expect(ReceiveRuns.decode(nil, first: .at(4), count: 2) == [.at(4), .at(4)])
    }

    @Test func evenStepsTakeTwoBytesARun() {
        // Runs of 2, 3 and 1 points, 30 s apart: 02; 03, +30000 zigzag = 60000; 01, no change.
        let times: [Timestamp] = [.at(0), .at(0), .at(30), .at(30), .at(30), .at(60)]
        let encoded = ReceiveRuns.encode(times)
        #expect(encoded.runs == [0x02, 0xE0, 0xD4, 0x03, 0x03, 0x00, 0x01])
        #expect(ReceiveRuns.decode(encoded.runs, first: encoded.first, count: 6) == times)
    }

    @Test func anyTimesComeBack() {
        let seed = UInt64.random(in: .min ... .max)
        print("receive runs seed \(seed)")
        var random = SplitMix(state: seed)
        for _ in 0..<500 {
            var times: [Timestamp] = []
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let edge: [Int64] = [.min, .max, 0, -1, .random(in: .min ... .max, using: &random)]
                let time = Timestamp(milliseconds: edge.randomElement(using: &random) ?? 0)
                times += Array(repeating: time, count: Int.random(in: 1...200, using: &random))
            }
            let encoded = ReceiveRuns.encode(times)
            #expect(ReceiveRuns.decode(encoded.runs, first: encoded.first, count: times.count) == times)
        }
    }

    @Test(
        arguments: [
            [], [0x00], [0x02], [0x04], [0x03, 0x00], [0x02, 0x80], [0x02, 0x00, 0x00], [0xFF],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x02, 0x00, 0x02],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        ] as [[UInt8]])
    func runsThatDoNotAddUpAreRefused(bytes: [UInt8]) {
        #expect(ReceiveRuns.decode(bytes, first: .at(0), count: 3) == nil)
    }
}
