import Testing

@testable import Compression

@Suite struct CompressionTests {
    @Test func checksumMatchesThePublishedCheckValue() {
        #expect(crc32(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(crc32([]) == 0)
        #expect(crc32(Array("6789".utf8), continuing: crc32(Array("12345".utf8))) == 0xCBF4_3926)
        #expect(crc32([], continuing: 7) == 7)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 5000, 100_000])
    func whatIsCompressedComesBack(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7) }
        #expect(try Zlib.decompress(Zlib.compress(bytes), limit: size) == bytes)
    }

    @Test func decompressionStopsAtItsLimit() throws {
        let bomb = try Zlib.compress([UInt8](repeating: 0, count: 1_000_000))
        #expect(throws: CompressionError(code: .tooLarge)) { try Zlib.decompress(bomb, limit: 999_999) }
        #expect(try Zlib.decompress(bomb, limit: 1_000_000).count == 1_000_000)
    }

    @Test func everyTruncationIsMalformed() throws {
        let whole = try Zlib.compress(Array("one batch of points".utf8))
        for length in 0..<whole.count {
            #expect(throws: CompressionError(code: .malformed)) {
                try Zlib.decompress(Array(whole.prefix(length)), limit: 1000)
            }
        }
        #expect(throws: CompressionError(code: .malformed)) { try Zlib.decompress(whole + [0], limit: 1000) }
    }
}
