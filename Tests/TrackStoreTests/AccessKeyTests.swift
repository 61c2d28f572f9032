import Testing
import TrackStore

@Suite struct AccessKeyTests {
    @Test func aKeyIsThirtyTwoLettersAndDigitsThatAreNeverMistakenForEachOther() {
        var generator = SystemRandomNumberGenerator()
        let key = AccessKey.generate(using: &generator).revealed
        #expect(key.utf8.count == 32)
        #expect(key.allSatisfy { "0123456789abcdefghjkmnpqrstvwxyz".contains($0) })
        #expect(AccessKey.generate(using: &generator).revealed != key)
    }

    @Test func aKeyIsNeverPrinted() {
        let key = AccessKey("abcdefgh")
        var dumped = ""
        dump([key.description: [1]], to: &dumped)
        #expect(!"\(key) \(String(reflecting: key)) \(dumped)".contains("abcdefgh"))
        #expect(key.revealed == "abcdefgh")
    }

    @Test func theHashIsSHA256OfTheKeysBytes() {
        // FIPS 180-2, appendix B.1.
        let hex = AccessKey("abc").hash.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func hashesAreEqualWhenAllTheirBytesAre() {
        let hash = AccessKey("abc").hash
        #expect(AccessKeyHash.constantTimeEqual(hash, AccessKey("abc").hash))
        for index in hash.bytes.indices {
            var other = hash.bytes
            other[index] ^= 1
            #expect(!AccessKeyHash.constantTimeEqual(hash, AccessKeyHash(bytes: other)))
        }
        #expect(!AccessKeyHash.constantTimeEqual(hash, AccessKeyHash(bytes: Array(hash.bytes.dropLast()))))
        #expect(!AccessKeyHash.constantTimeEqual(hash, AccessKeyHash(bytes: hash.bytes + [0])))
    }
}
