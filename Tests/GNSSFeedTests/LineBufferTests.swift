import Testing

@testable import GNSSFeed

struct LineBufferTests {
    /// Feeds the bytes in pieces of a size and gathers what comes out; `nil` stands for a line that is too long.
    private func lines(of bytes: [UInt8], inPiecesOf size: Int) -> [String?] {
        var buffer = LineBuffer()
        var found: [String?] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = buffer.fill { free in
                let piece = rest.prefix(min(size, free.count))
                free.copyBytes(from: piece)
                return piece.count
            }
            #expect(count > 0)
            rest = rest.dropFirst(count)
            while let line = buffer.next() {
                switch line {
                case .complete(let range):
                    found.append(String(decoding: buffer.bytes[range], as: UTF8.self))
                    #expect(buffer.bytes[range.upperBound] == 0)
                case .tooLong: found.append(nil)
                }
            }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 1000]) func linesComeOutWholeHoweverTheyArrive(size: Int) {
        let bytes = Array("one\r\ntwo\n\n\r\nfive\nunfinished".utf8)
        #expect(lines(of: bytes, inPiecesOf: size) == ["one", "two", "", "", "five"])
    }

    @Test(arguments: [1000, 4096, 65_536, 1_000_000]) func aLineThatDoesNotFitIsToldOnceAndSkipped(size: Int) {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)
        let bytes = Array("a\n".utf8) + long + Array("\nb\n".utf8)
        #expect(lines(of: bytes, inPiecesOf: size) == ["a", nil, "b"])
    }

    @Test func theLongestLineThatFitsPasses() {
        let longest = [UInt8](repeating: UInt8(ascii: "x"), count: LineBuffer.capacity - 1)
        #expect(lines(of: longest + [0x0A], inPiecesOf: 5000).map { $0?.utf8.count } == [LineBuffer.capacity - 1])
        #expect(lines(of: longest + [0x78, 0x0A, 0x61, 0x0A], inPiecesOf: 5000) == [nil, "a"])
    }
}
