import ProgramTestKit
import Testing

@testable import TrackWire

@Suite struct FrameDecoderTests {
    private static let messages: [[UInt8]] = [
        [], [7], Array(repeating: 1, count: 127), Array(repeating: 2, count: 128),
        (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }, [9, 9],
    ]
    private static let stream = messages.flatMap { framed($0) }

    @Test func framesComeOutWhole() throws {
        for message in Self.messages {
            var decoder = FrameDecoder()
            decoder.append(framed(message))
            #expect(try decoder.next() == message)
            #expect(try decoder.next() == nil)
            #expect(decoder.bufferedBytes == 0)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 127, 1000, 4096, 1_000_000])
    func framesComeOutOfPiecesOfAnySize(piece: Int) throws {
        var decoder = FrameDecoder()
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: Self.stream.count, by: piece) {
            decoder.append(Self.stream[start..<min(start + piece, Self.stream.count)])
            while let message = try decoder.next() { found.append(message) }
        }
        #expect(found == Self.messages)
        #expect(decoder.bufferedBytes == 0)
    }

    @Test func aTruncatedStreamGivesOnlyItsWholeFrames() throws {
        let short = Self.messages.filter { $0.count < 1000 }
        let bytes = short.flatMap { framed($0) }
        for length in 0..<bytes.count {
            var decoder = FrameDecoder()
            decoder.append(bytes.prefix(length))
            var found: [[UInt8]] = []
            while let message = try decoder.next() { found.append(message) }
            #expect(found == Array(short.prefix(found.count)))
            #expect(found.count < short.count)
        }
    }

    @Test func theLargestFramePassesAndOneByteMoreDoesNot() throws {
        var decoder = FrameDecoder()
        decoder.append(framed(Array(repeating: 5, count: WireLimits.frameBytes)))
        #expect(try decoder.next()?.count == WireLimits.frameBytes)
        decoder.append([0x81, 0x80, 0x40])
        #expect(throws: WireError(.tooLarge, "")) { try decoder.next() }
    }

    @Test func aLengthOfTwoGibibytesIsRefusedAtOnceAndForGood() {
        var decoder = FrameDecoder()
        decoder.append([0x80, 0x80, 0x80, 0x80, 0x08])
        #expect(throws: WireError(.tooLarge, "")) { try decoder.next() }
        decoder.append(Array(repeating: 0, count: 10_000))
        #expect(decoder.bufferedBytes == 0)
        #expect(throws: WireError(.tooLarge, "")) { try decoder.next() }
    }

    @Test(arguments: [[0x80, 0x00], [0x81, 0x80, 0x00], [0x80, 0x80, 0x80, 0x80, 0x80, 0x01]] as [[UInt8]])
    func overlongLengthsAreRefused(bytes: [UInt8]) {
        var decoder = FrameDecoder()
        decoder.append(bytes)
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test func aNeverEndingLengthIsRefusedWithinFiveBytes() {
        var decoder = FrameDecoder()
        decoder.append(Array(repeating: 0x80 as UInt8, count: 5))
        #expect(throws: WireError(.malformed, "")) { try decoder.next() }
    }

    @Test func manyGluedFramesTakeTimeInProportion() throws {
        var decoder = FrameDecoder()
        let frame = framed([1, 2, 3])
        decoder.append(Array(repeatElement(frame, count: 250_000).joined()))
        var count = 0
        while try decoder.next() != nil { count += 1 }
        #expect(count == 250_000)
    }

    @Test func randomBytesNeverHoldMoreThanTheLimit() {
        for seed in Dice.seeds(200) {
            var random = Dice(seed: seed)
            var decoder = FrameDecoder(maximumFrameBytes: 1000)
            for _ in 0..<50 {
                decoder.append((0..<100).map { _ in UInt8.random(in: 0...255, using: &random) })
                do { while try decoder.next() != nil {} } catch { break }
                #expect(decoder.bufferedBytes <= 1002, "seed \(seed)")
            }
        }
    }
}

private func framed(_ message: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var length = message.count
    while length >= 0x80 {
        bytes.append(UInt8(length & 0x7F) | 0x80)
        length >>= 7
    }
    return bytes + [UInt8(length)] + message
}
