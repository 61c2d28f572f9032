import Testing

@testable import ConfigurationFile

@Suite("The enrolment string")
struct EnrolmentStringTests {
    private static func sample(_ trust: EnrolmentString.Trust = .certificate([UInt8](repeating: 7, count: 420)))
        -> EnrolmentString
    {
        EnrolmentString(
            host: "fleet.example", port: 7443, serverName: "inner.example", webAddress: "https://fleet.example:8443",
            service: 3, accessKey: Secret("0123456789abcdefghjkmnpqrstvwxyz"), trust: trust)
    }

    private static let token = "et_abcdefghijklmnopqrstuvwxyz234567"

    private static func withToken(_ trust: EnrolmentString.Trust) -> EnrolmentString {
        EnrolmentString(host: "tracks.fleet.example.net.abcdef", port: 8443, token: Secret(token), trust: trust)
    }

    private func code(_ text: String) -> EnrolmentStringError.Code? {
        do {
            _ = try EnrolmentString(decoding: text)
            return nil
        } catch { return error.code }
    }

    @Test(arguments: [
        sample(), sample(.system), sample(.pinnedKey([UInt8](repeating: 9, count: 32))),
        EnrolmentString(host: "::1", port: 1, service: 1, accessKey: Secret("k"), trust: .system),
        withToken(.system), withToken(.certificate([1])), withToken(.pinnedKey([UInt8](repeating: 9, count: 32))),
    ])
    func whatIsWrittenIsReadBack(value: EnrolmentString) throws {
        #expect(try EnrolmentString(decoding: value.encoded.revealed) == value)
    }

    @Test func lineBreaksAndQuotesFromPastingDoNoHarm() throws {
        let line = Self.sample().encoded.revealed
        let broken = "  '" + line.prefix(70) + "\r\n  " + line.dropFirst(70) + "'\n"
        #expect(try EnrolmentString(decoding: broken) == Self.sample())
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
        #expect(code("") == .notAnEnrolmentString)
        #expect(code("https://fleet.example") == .notAnEnrolmentString)
        #expect(code("saker2:AAAA") == .damaged)
        #expect(code("saker3:AAAA") == .newerVersion)
        #expect(code("saker0:AAAA") == .notAnEnrolmentString)
        #expect(code("saker1:") == .truncated)
        #expect(code("saker1:!!!!") == .damaged)
        #expect(code(String(repeating: "a", count: 5000)) == .notAnEnrolmentString)
        #expect(code(Self.sample().encoded.revealed + "AAAA") == .damaged)
    }

    @Test func aLineWithATokenFitsOnALabel() throws {
        let line = Self.withToken(.pinnedKey([UInt8](repeating: 0xFF, count: 32))).encoded.revealed
        #expect(line.hasPrefix("saker2:"))
        #expect(line.count <= 200)
        let read = try EnrolmentString(decoding: line)
        #expect(read.credential == .token(Secret(Self.token)))
        #expect(read.service == nil && read.webAddress == nil)
    }

    /// Changes the fields of a line and makes length and checksum right again.
    private func line(_ value: EnrolmentString, prefix: String? = nil, _ change: (inout [UInt8]) -> Void) -> String {
        let text = value.encoded.revealed
        var fields = Array((Base64.decoded(text.dropFirst(7), alphabet: .urlSafe) ?? []).dropFirst(2).dropLast(4))
        change(&fields)
        let length = EnrolmentString.bigEndian(UInt64(fields.count + 4), bytes: 2)
        let sum = EnrolmentString.bigEndian(UInt64(EnrolmentString.crc32(fields)), bytes: 4)
        return (prefix ?? String(text.prefix(7))) + Base64.encoded(length + fields + sum, alphabet: .urlSafe)
    }

    @Test func aLineHasExactlyOneSecretAndThePrefixSaysWhich() {
        let key = Self.sample(.system)
        let token = Self.withToken(.system)
        #expect(code(line(key) { _ in }) == nil)
        #expect(code(line(token) { _ in }) == nil)
        #expect(code(line(key, prefix: "saker2:") { _ in }) == .invalid)
        #expect(code(line(token, prefix: "saker1:") { _ in }) == .invalid)
        let accessKey: [UInt8] = [6, 0, 1, 0x6B]
        let tokenField: [UInt8] = [9, 0, 35] + Array(Self.token.utf8)
        #expect(code(line(key) { $0 += tokenField }) == .invalid)
        #expect(code(line(token) { $0 += accessKey }) == .invalid)
        // The server knows the service of a token.
        #expect(code(line(token) { $0 += [5, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1] }) == .invalid)
        #expect(code(line(token) { $0 += [4, 0, 1, 0x77] }) == .invalid)
        // Unknown fields are for later versions.
        #expect(code(line(token) { $0 += [200, 0, 1, 0] }) == nil)
    }

    @Test(arguments: [
        "", "et_", "et_abcdefghijklmnopqrstuvwxyz23456", "et_abcdefghijklmnopqrstuvwxyz2345677",
        "et_Abcdefghijklmnopqrstuvwxyz234567", "et_abcdefghijklmnopqrstuvwxyz234568",
        "ek_abcdefghijklmnopqrstuvwxyz234567", "et_abcdefghijklmnopqrstuvwxyz23456é",
    ])
    func aTokenOfAnotherFormIsRefused(token: String) {
        #expect(!EnrolmentToken.isOne(token))
        let value = EnrolmentString(host: "h", port: 1, token: Secret(token), trust: .system)
        #expect(code(value.encoded.revealed) == .invalid)
    }

    /// The characters are those of base 32, RFC 4648: `printf 'twentyrandomoctets!!' | base32`.
    @Test func aTokenIsMadeOfItsBytes() {
        #expect(
            EnrolmentToken.text(of: Array("twentyrandomoctets!!".utf8))?.revealed
                == "et_or3wk3tupfzgc3ten5ww6y3umv2hgijb")
        #expect(EnrolmentToken.text(of: [UInt8](repeating: 0, count: 19)) == nil)
        #expect(EnrolmentToken.text(of: []) == nil)
        #expect(EnrolmentToken.isOne(EnrolmentToken.text(of: [UInt8](repeating: 0xFF, count: 20))?.revealed ?? ""))
    }

    @Test func theKeyIsHiddenInDescriptionsAndErrors() {
        #expect(!"\(Self.sample())".contains("0123456789abc"))
        #expect(!"\(Self.sample().encoded)".contains("saker1"))
        #expect(!"\(Self.withToken(.system))".contains("et_"))
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
