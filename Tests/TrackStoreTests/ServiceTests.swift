import Testing
import TrackModel

@testable import TrackStore

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

@Suite struct KeyRightsTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", "192.0.2.2"), ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
        ("10.0.0.0/8", "::ffff:10.9.8.7", "11.0.0.0"), ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"),
        ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"), ("::1", "0:0:0:0:0:0:0:1", "::2"),
        ("192.0.2.129/25", "192.0.2.128", "192.0.2.127"), ("::ffff:192.0.2.0/120", "192.0.2.77", "192.0.1.77"),
    ])
    func aRangeHasTheAddressesThatBeginWithItsBits(range: String, inside: String, outside: String) throws {
        let range = try #require(AddressRange(range))
        #expect(range.contains(try #require(AddressRange(inside))))
        #expect(!range.contains(try #require(AddressRange(outside))))
        // What the store keeps of it is the same range.
        #expect(AddressRange(range.description) == range, "\(range)")
    }

    @Test(arguments: [
        "", "x", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/-1", "1.2.3.4/24/8", "::1/129",
        "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", ":", ":::", "1.2.3.4::", "0x1.2.3.4",
        "1:2:3:4:5:6:7::8:9", "fe80::1%eth0", " 1.2.3.4", "１.2.3.4",
    ])
    func whatIsNoAddressIsNone(text: String) { #expect(AddressRange(text) == nil) }

    @Test(arguments: [
        ("*.example.net", "https://www.example.net/page?x=1", true), ("*.example.net", "https://example.net/", false),
        ("*.example.net", "https://evil.org/.example.net", false),
        ("*.example.net", "https://evil.org/?a.example.net", false),
        ("*.example.net", "https://a.example.net@evil.org/", false),
        ("example.net", "http://EXAMPLE.net:8080", true), ("*Example.NET*", "http://www.example.net.au/", true),
        ("example.net/fleet/*", "http://example.net/fleet/map", true),
        ("example.net/fleet/*", "http://example.net/other", false), ("*", "anything", true),
        ("*a*a*a*b", "http://" + String(repeating: "a", count: 200), false), ("example.net", "example.net", false),
        ("[::1]", "http://[::1]:80/", true),
    ])
    func aPatternIsAboutTheHostAndAboutThePathWhenItHasOne(pattern: String, referer: String, fits: Bool) throws {
        let rights = KeyRights(.read, referers: [try #require(RefererPattern(pattern))])
        #expect(rights.admits(referer: referer) == fits)
    }

    @Test func aListAdmitsOnlyWhatIsOnItAndNoListAdmitsAll() throws {
        #expect(KeyRights(.read).admits(address: nil) && KeyRights(.read).admits(referer: nil))
        let rights = KeyRights(
            .read, addresses: [try #require(AddressRange("192.0.2.0/24"))],
            referers: [try #require(RefererPattern("a.example"))])
        #expect(!rights.admits(address: nil) && !rights.admits(address: "nonsense"))
        #expect(!rights.admits(referer: nil) && !rights.admits(referer: ""))
        #expect(KeyRights(.read, referers: [try #require(RefererPattern("*"))]).admits(referer: nil))
        for bad in ["", "a b", "http://a", String(repeating: "a", count: 257)] { #expect(RefererPattern(bad) == nil) }
    }

    @Test func scopesOpenWhatTheyNameAndAdminOpensReadAndWrite() throws {
        let all: [KeyScopes] = [.read, .write, .admin, .legacyDevice]
        for scope in all {
            #expect(all.filter { scope.opens($0) } == (scope == .admin ? [.read, .write, .admin] : [scope]))
            #expect(KeyScopes(name: scope.text) == scope)
        }
        #expect(KeyScopes.former.text == "read,write,legacy-device")
        #expect(KeyScopes(name: "device") == nil)
    }

    @Test func aKeyEndsAtItsEnd() {
        let rights = KeyRights(.read, end: Timestamp(seconds: 10))
        #expect(!rights.hasEnded(at: Timestamp(milliseconds: 9999)) && rights.hasEnded(at: Timestamp(seconds: 10)))
        #expect(!KeyRights(.read).hasEnded(at: Timestamp(milliseconds: .max)))
    }
}

@Suite struct RetentionTests {
    @Test func aTextSaysHowLong() {
        #expect(Retention("1") == .days(1) && Retention("36500") == .days(36_500))
        #expect(Retention("forever") == .forever && Retention("default") == .standard)
        for text in ["0", "36501", "-1", "", "90d", "Forever", " 90"] { #expect(Retention(text) == nil, "\(text)") }
        for retention in [Retention.days(7), .forever, .standard] { #expect(Retention("\(retention)") == retention) }
    }

    @Test func theDefaultIsThatOfTheConfiguration() {
        #expect(Retention.standard.days(standard: 30) == 30 && Retention.standard.days(standard: nil) == nil)
        #expect(Retention.forever.days(standard: 30) == nil && Retention.days(7).days(standard: 30) == 7)
    }
}
