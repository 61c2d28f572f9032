import Testing

@testable import ConfigurationFile

@Suite("The enrolment string")
struct EnrollmentStringTests {
    private static func sample(_ trust: EnrollmentString.Trust = .certificate([UInt8](repeating: 7, count: 420)))
        -> EnrollmentString
    {
        EnrollmentString(
            host: "fleet.example", port: 7443, serverName: "inner.example", webAddress: "https://fleet.example:8443",
            service: 3, accessKey: Secret("0123456789abcdefghjkmnpqrstvwxyz"), trust: trust)
    }

    private func code(_ text: String) -> EnrollmentStringError.Code? {
        do {
            _ = try EnrollmentString(decoding: text)
            return nil
        } catch { return error.code }
    }

    @Test(arguments: [
        sample(), sample(.system), sample(.pinnedKey([UInt8](repeating: 9, count: 32))),
        EnrollmentString(host: "::1", port: 1, service: 1, accessKey: Secret("k"), trust: .system),
    ])
    func whatIsWrittenIsReadBack(value: EnrollmentString) throws {
        #expect(try EnrollmentString(decoding: value.encoded.revealed) == value)
    }

    @Test func lineBreaksAndQuotesFromPastingDoNoHarm() throws {
        let line = Self.sample().encoded.revealed
        let broken = "  '" + line.prefix(70) + "\r\n  " + line.dropFirst(70) + "'\n"
        #expect(try EnrollmentString(decoding: broken) == Self.sample())
    }

    @Test func everyTruncationIsSeen() {
        let line = Self.sample().encoded.revealed
        for length in 0..<line.count {
            let code = code(String(line.prefix(length)))
            #expect(code != nil)
            if length > 12 { #expect(code == .truncated || code == .damaged) }
        }
    }

    @Test func everyChangedCharacterIsSeen() {
        let line = Array(Self.sample(.system).encoded.revealed.utf8)
        for index in 7..<line.count {
            var changed = line
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(code(String(decoding: changed, as: UTF8.self)) != nil)
        }
    }

    @Test func otherTextsAreNamedForWhatTheyAre() {
        #expect(code("") == .notAnEnrollmentString)
        #expect(code("https://fleet.example") == .notAnEnrollmentString)
        #expect(code("saker2:AAAA") == .newerVersion)
        #expect(code("saker1:") == .truncated)
        #expect(code("saker1:!!!!") == .damaged)
        #expect(code(String(repeating: "a", count: 5000)) == .notAnEnrollmentString)
        #expect(code(Self.sample().encoded.revealed + "AAAA") == .damaged)
    }

    @Test func theKeyIsHiddenInDescriptionsAndErrors() {
        #expect(!"\(Self.sample())".contains("0123456789abc"))
        #expect(!"\(Self.sample().encoded)".contains("saker1"))
    }

    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64IsTheStandards(plain: String, encoded: String) {
        #expect(Base64.encoded(Array(plain.utf8)) == encoded)
        #expect(Base64.decoded(encoded) == Array(plain.utf8))
    }

    @Test func badBase64IsRefused() {
        #expect(Base64.decoded("Zg=a") == nil)
        #expect(Base64.decoded("Z") == nil)
        #expect(Base64.decoded("Zh==") == nil)
        #expect(Base64.decoded("-_-_") == nil)
        #expect(Base64.decoded("-_-_", alphabet: .urlSafe) == [0xFB, 0xFF, 0xBF])
    }
}
