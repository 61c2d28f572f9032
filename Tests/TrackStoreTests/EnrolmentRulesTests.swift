import Testing
import TrackModel

@testable import TrackStore

@Suite("The rules of enrolment") struct EnrolmentRulesTests {
    private static func token(
        pattern: String = "{entity}", uses: Int = 5, approval: TokenApproval = .automatic, end: Timestamp? = nil
    ) throws -> TokenRecord {
        let service = try #require(ServiceID(rawValue: 1))
        return TokenRecord(
            NewToken(
                hash: TokenHash(of: "t"), service: service, uses: uses, end: end, pattern: try NamePattern(pattern),
                approval: approval), number: 3, created: Timestamp(seconds: 0))
    }

    private static func request(entity: String? = nil, serial: String? = nil) throws -> ClaimRequest {
        ClaimRequest(
            token: TokenHash(of: "t"), keyHash: [UInt8](repeating: 1, count: 32), entity: entity, serial: serial,
            device: try #require(DeviceID(bytes: [UInt8](repeating: 2, count: 16))),
            certificateEnd: Timestamp(seconds: 900))
    }

    private func decide(
        _ request: ClaimRequest, _ token: TokenRecord?, known: DeviceRecord? = nil,
        listing: ClaimFacts.Listing = .none, at now: Int64 = 100, use: (String) -> NameUse = { _ in .free }
    ) -> ClaimDecision {
        ClaimRules.decide(
            request, ClaimFacts(token: token, known: known, listing: listing), at: Timestamp(seconds: now), use: use)
    }

    private func code(_ decision: ClaimDecision) -> EnrolmentRefusal.Code? {
        if case .refused(let refusal) = decision { return refusal.code }
        return nil
    }

    // MARK: Names

    @Test(arguments: [
        ("{entity}", "van", "van"), ("truck-{serial}", nil, "truck-S1"), ("{number}", nil, "1"),
        ("a{number}b{serial}c{entity}d", "van", "a1bS1cvand"), ("plain", "plain", "plain"), ("plain", nil, "plain"),
        ("货车 {number}", nil, "货车 1"),
    ])
    func aPatternNamesTheVehicle(pattern: String, wish: String?, name: String) throws {
        let decision = decide(try Self.request(entity: wish, serial: "S1"), try Self.token(pattern: pattern))
        #expect(decision == .make(entity: name, state: .active, number: 1))
    }

    @Test(arguments: [
        "", "{", "}", "{}", "{name}", "a{entity", "{{entity}}", "{Entity}", "a;{entity}", "#{entity}", "a\nb",
        String(repeating: "a", count: 129),
    ])
    func aTextThatIsNoPatternIsRefusedWithTheRule(text: String) throws {
        let error = try #require(throws: NamePatternError.self) { try NamePattern(text) }
        #expect(!error.description.isEmpty)
    }

    @Test func aPatternIsWrittenAsItWasGiven() throws {
        for text in ["{entity}", "truck-{serial}-{number}", "plain"] {
            #expect(try NamePattern(text).description == text)
        }
        #expect(try NamePattern("{entity}") == .wish)
        #expect(try NamePattern("plain").isForMany == false && NamePattern("{number}").isForMany)
    }

    @Test func aNameThatCannotBeIsRefused() throws {
        let (wish, serial) = (try Self.token(), try Self.token(pattern: "{serial}"))
        #expect(code(decide(try Self.request(), wish)) == .entityRefused)
        #expect(code(decide(try Self.request(entity: "a;b"), wish)) == .entityRefused)
        #expect(code(decide(try Self.request(entity: String(repeating: "a", count: 129)), wish)) == .entityRefused)
        #expect(code(decide(try Self.request(), serial)) == .entityRefused)
        // The box wishes for a name that the token does not give.
        #expect(code(decide(try Self.request(entity: "other", serial: "S1"), serial)) == .entityRefused)
        #expect(code(decide(try Self.request(entity: "S1", serial: "S1"), serial)) == nil)
    }

    @Test func aTakenNameIsRefusedUnlessThereIsAnotherNumber() throws {
        let id = try #require(DeviceID(bytes: [UInt8](repeating: 9, count: 16)))
        let request = try Self.request(entity: "van")
        #expect(code(decide(request, try Self.token(), use: { _ in .device(id) })) == .entityTaken)
        #expect(code(decide(request, try Self.token(), use: { _ in .entity })) == nil)
        let most = ClaimRules.mostWaiting
        #expect(code(decide(request, try Self.token(), use: { _ in .waiting(most - 1, .past) })) == nil)
        #expect(code(decide(request, try Self.token(), use: { _ in .waiting(most, .past) })) == .entityTaken)
        var numbered = try Self.token(pattern: "{entity}-{number}")
        numbered.lastName = 6
        let free = decide(request, numbered) { $0 == "van-9" ? .free : $0 == "van-8" ? .entity : .device(id) }
        #expect(free == .make(entity: "van-9", state: .active, number: 9))
        var asked = 0
        let none = decide(request, numbered) { _ in
            asked += 1
            return .device(id)
        }
        #expect(code(none) == .entityTaken && asked < 100)
    }

    /// Whoever has a stolen token would read the track, and shut the vehicle with the access key out.
    @Test func whoTakesOverAnEntityWithAPastWaits() throws {
        let request = try Self.request(entity: "van")
        #expect(
            decide(request, try Self.token(), use: { _ in .past }) == .make(entity: "van", state: .pending, number: 1))
        #expect(
            decide(request, try Self.token(), use: { _ in .entity }) == .make(entity: "van", state: .active, number: 1))
        var allowing = try Self.token()
        allowing.takesPast = true
        #expect(decide(request, allowing, use: { _ in .past }) == .make(entity: "van", state: .active, number: 1))
        allowing.approval = .asked
        #expect(decide(request, allowing, use: { _ in .past }) == .make(entity: "van", state: .pending, number: 1))
    }

    /// Vehicles that were named by hand, before there were tokens.
    @Test(arguments: [0, 1, 7, 8, 9, 10, 10_000, 999_999])
    func aRunningNumberIsFoundAmongManyNamesWithFewQuestions(names: Int) throws {
        let token = try Self.token(pattern: "van-{number}")
        var asked = 0
        let decision = decide(try Self.request(), token) { name in
            asked += 1
            return (Int(name.dropFirst(4)) ?? 0) <= names ? .entity : .free
        }
        #expect(decision == .make(entity: "van-\(names + 1)", state: .active, number: Int64(names + 1)))
        #expect(asked <= 50)
    }

    @Test func whoTakesThePlaceOfARevokedDeviceWaits() throws {
        let id = try #require(DeviceID(bytes: [UInt8](repeating: 9, count: 16)))
        let request = try Self.request(entity: "van", serial: "S")
        let revoked = decide(request, try Self.token(), use: { _ in .revoked(id) })
        #expect(revoked == .make(entity: "van", state: .pending, number: 1))
        let listed = try Self.token(pattern: "{entity}", approval: .listed(["S"]))
        let second = decide(request, listed, listing: .taken, use: { _ in .device(id) })
        #expect(second == .make(entity: "van", state: .pending, number: 1))
        #expect(code(decide(request, listed, listing: .listed, use: { _ in .device(id) })) == .entityTaken)
    }

    // MARK: Tokens

    @Test func aTokenEndsInEachWay() throws {
        let request = try Self.request(entity: "van")
        #expect(code(decide(request, nil)) == .tokenUnknown)
        let ending = try Self.token(end: Timestamp(seconds: 100))
        #expect(code(decide(request, ending, at: 99)) == nil)
        #expect(code(decide(request, ending, at: 100)) == .tokenEnded)
        var used = try Self.token(uses: 2)
        used.used = 1
        #expect(code(decide(request, used)) == nil && used.isUsable(at: Timestamp(seconds: 1)))
        used.used = 2
        #expect(code(decide(request, used)) == .tokenUsedUp && !used.isUsable(at: Timestamp(seconds: 1)))
        used.revoked = Timestamp(seconds: 5)
        #expect(code(decide(request, used)) == .tokenRevoked)
    }

    @Test func whoDecidesIsWhatTheTokenSays() throws {
        let request = try Self.request(entity: "van", serial: "S")
        let asked = try Self.token(approval: .asked)
        #expect(decide(request, asked) == .make(entity: "van", state: .pending, number: 1))
        let listed = try Self.token(approval: .listed(["S"]))
        #expect(code(decide(request, listed)) == .notOnList)
        #expect(decide(request, listed, listing: .listed) == .make(entity: "van", state: .active, number: 1))
        #expect(decide(request, listed, listing: .taken) == .make(entity: "van", state: .pending, number: 1))
    }

    @Test func listsHaveRules() {
        #expect(TokenApproval.automatic.problem == nil)
        #expect(TokenApproval.listed(["a", "b"]).problem == nil)
        #expect(TokenApproval.listed([]).problem != nil)
        #expect(TokenApproval.listed(["a", ""]).problem != nil)
        #expect(TokenApproval.listed(["a\u{7}"]).problem != nil)
        #expect(TokenApproval.listed([String(repeating: "a", count: 129)]).problem != nil)
        let many = (0...TokenApproval.mostSerials).map { "\($0)" }
        #expect(TokenApproval.listed(many).problem != nil)
        #expect(TokenApproval.listed(Array(many.dropLast())).problem == nil)
    }

    // MARK: A key that the server knows

    private static func device(
        state: DeviceRecord.State = .active, end: Int64 = 900, issued: Int64? = 10, service: Int64 = 1
    ) throws -> DeviceRecord {
        DeviceRecord(
            id: try #require(DeviceID(bytes: [UInt8](repeating: 2, count: 16))),
            service: try #require(ServiceID(rawValue: service)), entity: "van", state: state,
            keyHash: [UInt8](repeating: 1, count: 32), created: Timestamp(seconds: 10),
            certificateEnd: Timestamp(seconds: end), issued: issued.map { Timestamp(seconds: $0) })
    }

    @Test func aKnownKeyIsTheSameDeviceWhateverBecameOfTheToken() throws {
        let request = try Self.request(entity: "other")
        var token = try Self.token(uses: 1, end: Timestamp(seconds: 50))
        token.used = 1
        token.revoked = Timestamp(seconds: 60)
        let active = try Self.device()
        #expect(decide(request, token, known: active) == .again(active))
        let pending = try Self.device(state: .pending)
        #expect(decide(request, token, known: pending) == .again(pending))
        #expect(code(decide(request, token, known: try Self.device(state: .revoked))) == .deviceRevoked)
        #expect(code(decide(request, token, known: try Self.device(service: 2))) == .requestInvalid)
        #expect(code(decide(request, nil, known: active)) == .tokenUnknown)
    }

    @Test func aTokenThatIsOverOpensNoWayRoundTheEndOfACertificate() throws {
        let request = try Self.request(entity: "van")
        let device = try Self.device(end: 900)
        let late = 900 + RenewalRules.graceDays * 86_400
        var token = try Self.token()
        #expect(decide(request, token, known: device, at: late) == .again(device))
        token.revoked = Timestamp(seconds: 60)
        #expect(decide(request, token, known: device, at: late - 1) == .again(device))
        #expect(code(decide(request, token, known: device, at: late)) == .tokenRevoked)
        // A device that never had one was approved late.
        var first = try Self.device(end: 10, issued: nil)
        first.claim = DeviceRecord.Claim(token: 3)
        #expect(decide(request, token, known: first, at: late + 1000) == .again(first))
        // A person has given it one.
        let added = try Self.device(end: 900, issued: nil)
        #expect(decide(request, token, known: added, at: late - 1) == .again(added))
        #expect(code(decide(request, token, known: added, at: late)) == .tokenRevoked)
    }

    @Test func aClockThatWasSetBackHoldsNobodyOff() throws {
        let device = try Self.device(end: 90_000, issued: 5000)
        #expect(RenewalRules.refusal(of: device, at: Timestamp(seconds: 4999)) == nil)
        let early = RenewalRules.refusal(of: device, at: Timestamp(seconds: 5001))
        #expect(early?.code == .tooMany && early?.retryAfter == 599)
        #expect(RenewalRules.refusal(of: device, at: Timestamp(seconds: 5600)) == nil)
    }
}

@Suite struct DeviceIDTests {
    @Test func aNumberIsAUUIDOfVersionFour() throws {
        var generator = SystemRandomNumberGenerator()
        let id = DeviceID.random(using: &generator)
        #expect("\(id)".wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(DeviceID("\(id)") == id && DeviceID("\(id)".uppercased()) == id)
        #expect(DeviceID(uri: id.uri) == id && id.uri.hasPrefix("saker:device:"))
        #expect(DeviceID.random(using: &generator) != id)
        let known = try #require(DeviceID(bytes: Array(0x0E...0x1D)))
        #expect("\(known)" == "0e0f1011-1213-1415-1617-18191a1b1c1d")
    }

    @Test(arguments: [
        "", "0e0f1011-1213-1415-1617-18191a1b1c1", "0e0f10111213-1415-1617-18191a1b1c1d-",
        "0e0f1011-1213-1415-1617-18191a1b1c1g",
        "0e0f10111213141516171819-1a1b1c1d", " 0e0f1011-1213-1415-1617-18191a1b1c1d",
        "0e0f1011-1213-1415-1617-18191a1b1c1d ",
        "0e0f1011-1213-1415-1617-18191a1b1c1é", "----",
    ])
    func whatIsNoUUIDIsNone(text: String) {
        #expect(DeviceID(text) == nil && DeviceID(uri: "saker:device:" + text) == nil)
    }

    @Test func otherURIsNameNoDevice() {
        let number = "0e0f1011-1213-1415-1617-18191a1b1c1d"
        for uri in [number, "saker:devic:" + number, "Saker:device:" + number, "saker:device::" + number] {
            #expect(DeviceID(uri: uri) == nil)
        }
        #expect(DeviceID(bytes: [1, 2]) == nil)
    }
}
