import Crypto
import Enrolment
import Foundation
import JSON
import StoreRecords
import SwiftASN1
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import X509

@testable import ServerRuntime

@Suite("Claims and renewals", .timeLimit(.minutes(5))) struct EnrolmentServiceTests {
    private func certificate(_ answer: [String: JSONValue]) throws -> Certificate {
        try Certificate(pemEncoded: try #require(answer["certificate"]?.stringValue))
    }

    @Test func aClaimIsAnsweredWithACertificateOfTheKeyAlone() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        let key = P256.Signing.PrivateKey()
        let (status, answer) = await bench.claim(try EnrolmentBench.request(key), entity: "van_07")
        #expect(status == 200)
        let device = try #require(try await bench.devices().first)
        #expect(answer["status"] == "issued" && answer["entity"] == "van_07" && answer["service"] == 1)
        #expect(answer["device"]?.stringValue == "\(device.id)")
        #expect(answer["host"] == "tracks.example.net" && answer["port"] == 7443)
        #expect(answer["web_address"] == "https://tracks.example.net:8443" && answer["authority"] == nil)
        let certificate = try certificate(answer)
        // Nothing of the request but its key is in it.
        #expect(certificate.publicKey == Certificate.PublicKey(key.publicKey))
        let names = try #require(try certificate.extensions.subjectAlternativeNames)
        #expect(Array(names) == [.uniformResourceIdentifier(device.id.uri)])
        #expect(!"\(certificate.subject)".contains("example"))
        #expect(try certificate.extensions.basicConstraints == .notCertificateAuthority)
        #expect(try certificate.extensions.extendedKeyUsage.map(Array.init) == [.clientAuth])
        #expect(bench.authority.publicKey.isValidSignature(certificate.signature, for: certificate))
        let end = bench.clocks.now.milliseconds / 1000 + 366 * 86_400
        #expect(answer["not_after"]?.integerValue == end)
        #expect(Int64(certificate.notValidAfter.timeIntervalSince1970) == end)
        #expect(device.certificateEnd == Timestamp(seconds: end))
        #expect(bench.count(.issued) == 1)
    }

    @Test func aLostAnswerCostsNoUseAndAPendingDeviceWaitsForAPerson() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken(uses: 1, approval: .asked)
        let request = try EnrolmentBench.request()
        for _ in 0..<3 {
            let (status, answer) = await bench.claim(request)
            #expect(status == 202 && answer["status"] == "pending" && answer["retry_after"] == 60)
            #expect(answer["message"]?.stringValue?.contains("device approve") == true)
        }
        #expect(await bench.claim(try EnrolmentBench.request(), entity: "b").answer["code"] == "token_used_up")
        let device = try #require(try await bench.devices().first)
        _ = try await bench.store.changeDevice(device.id, .state(.active))
        for _ in 0..<2 { #expect(await bench.claim(request).status == 200) }
        #expect(bench.count(.issued) == 1 && bench.count(.again) == 1 && bench.count(.pending) == 3)
        #expect(try await bench.store.tokens(in: nil).map(\.used) == [1])
        _ = try await bench.store.changeDevice(device.id, .state(.revoked))
        let revoked = await bench.claim(request)
        #expect(revoked.status == 403 && revoked.answer["code"] == "device_revoked")
        #expect(await bench.renew(request).answer["code"] == "device_revoked")
    }

    @Test func aCertificateIsRenewedByItsKey() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        let key = P256.Signing.PrivateKey()
        _ = await bench.claim(try EnrolmentBench.request(key))
        #expect(await bench.renew(try EnrolmentBench.request(key)).answer["code"] == "too_many")
        #expect(await bench.renew(try EnrolmentBench.request()).answer["code"] == "device_unknown")
        bench.clocks.pass(366 * 86_400 + 89 * 86_400)
        let (status, answer) = await bench.renew(try EnrolmentBench.request(key))
        #expect(status == 200 && answer["entity"] == "van")
        #expect(try certificate(answer).publicKey == Certificate.PublicKey(key.publicKey))
        #expect(bench.count(.renewed) == 1)
        bench.clocks.pass(366 * 86_400 + 91 * 86_400)
        #expect(await bench.renew(try EnrolmentBench.request(key)).answer["code"] == "ended")
    }

    @Test func withoutTheKeyOfTheAuthorityNothingIsIssuedAndNothingIsUsed() async throws {
        let bench = try await EnrolmentBench(hasKey: false)
        try await bench.addToken()
        let (status, answer) = await bench.claim(try EnrolmentBench.request())
        #expect(status == 503 && answer["code"] == "no_authority" && answer["retry_after"] != nil)
        // Where the key should be is nobody's affair but the administrator's.
        #expect(answer["message"]?.stringValue?.contains("journal") == true)
        #expect(answer["message"]?.stringValue?.contains("/") == false)
        #expect(bench.lines.all.last?.metadata["reason"]?.contains("device-ca-key.pem") == true)
        let renewal = await bench.renew(try EnrolmentBench.request(), from: "198.51.100.9")
        #expect(renewal.answer["code"] == "no_authority")
        #expect(renewal.answer["message"]?.stringValue?.contains("device-ca") == false, "\(renewal.answer)")
        #expect(bench.lines.all.last?.metadata["reason"]?.contains("device-ca-key.pem") == true)
        #expect(try await bench.store.tokens(in: nil).map(\.used) == [0])
        // Whoever has no token learns nothing of it.
        let stranger = await bench.claim(try EnrolmentBench.request(), token: "et_" + String(repeating: "a", count: 32))
        #expect(stranger.answer["code"] == "token_unknown")
    }

    /// One address alone fills no journal, and silences no other one.
    @Test func eachAddressHasItsLines() async throws {
        let bench = try await EnrolmentBench()
        func refused(from address: String) -> Int {
            bench.lines.all.count { $0.metadata["outcome"] != nil && $0.metadata["address"] == address }
        }
        for _ in 0..<40 { _ = bench.enrolments.refuseLarge(from: "192.0.2.1") }
        #expect(refused(from: "192.0.2.1") == 30)
        for _ in 0..<2 { _ = bench.enrolments.refuseLarge(from: "192.0.2.2") }
        #expect(refused(from: "192.0.2.2") == 2)
        // All of an IPv6 network are one.
        for host in 1...40 { _ = bench.enrolments.refuseLarge(from: "2001:db8::\(host)") }
        #expect(bench.lines.all.count { $0.metadata["address"]?.hasPrefix("2001:db8::") == true } == 30)
        // What was left out is said with the next line, or when the address is silent.
        bench.clocks.pass(2)
        _ = bench.enrolments.refuseLarge(from: "192.0.2.1")
        #expect(bench.lines.all.last?.metadata["skipped"] == "10")
        for _ in 0..<5 { _ = bench.enrolments.refuseLarge(from: "192.0.2.1") }
        bench.clocks.pass(60)
        bench.enrolments.tellLeftOut()
        #expect(bench.lines.all.contains { $0.metadata["sender"] == "192.0.2.1" && $0.metadata["skipped"] == "5" })
    }

    /// Many addresses together have a budget, and no device that was made is left out by them.
    @Test func allStrangersTogetherHaveABudget() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        for number in 0..<1000 { _ = bench.enrolments.refuseLarge(from: "10.0.\(number / 250).\(number % 250)") }
        #expect(bench.lines.all.count == 300)
        _ = await bench.claim(try EnrolmentBench.request())
        #expect(bench.lines.all.last?.metadata["outcome"] == "issued")
    }

    @Test func aStoreThatFailsMakesTheBoxComeAgain() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        try await bench.store.close()
        let (status, answer) = await bench.claim(try EnrolmentBench.request())
        #expect(status == 503 && answer["code"] == "busy" && answer["retry_after"] == 30)
    }

    /// The store has the device and the use of the token, whatever becomes of the answer: so the journal and the counter have it.
    @Test func aDeviceThatGotNoAnswerIsInTheJournal() async throws {
        let signer = DeviceSigner()
        let bench = try await EnrolmentBench(store: BusyAfterClaim(TestStore(), signer), signer: signer)
        try await bench.addToken()
        let request = try EnrolmentBench.request()
        let (status, answer) = await bench.claim(request, entity: "van_07")
        #expect(status == 503 && answer["code"] == "busy")
        let device = try #require(try await bench.devices().first)
        let line = try #require(bench.lines.all.first { $0.metadata["outcome"] == "issued" })
        #expect(line.metadata["device"] == "\(device.id)" && line.metadata["entity"] == "van_07")
        #expect(bench.count(.issued) == 1 && bench.count(.refused(.busy)) == 1)
        signer.mostWaiting.store(64, ordering: .relaxed)
        #expect(await bench.claim(request).status == 200)
        #expect(bench.count(.issued) == 1 && bench.count(.again) == 1)
    }

    // MARK: Attacks

    @Test func onlyTheConcurrentClaimOfAKeyMakesADevice() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        let request = try EnrolmentBench.request()
        let devices = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<8 { group.addTask { await bench.claim(request).answer["device"]?.stringValue } }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(devices.count == 1 && devices.first??.isEmpty == false)
        #expect(try await bench.store.tokens(in: nil).map(\.used) == [1])
    }

    @Test func noClaimOutlivesARevocationWithDevices() async throws {
        let bench = try await EnrolmentBench()
        let token = try await bench.addToken(uses: 100)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    guard let request = try? EnrolmentBench.request() else { return }
                    // An address of its own: refusals of one address are limited.
                    _ = await bench.claim(request, entity: "van \(number)", from: "192.0.2.\(number + 1)")
                }
            }
            group.addTask {
                while (try? await bench.devices().count) ?? 10 < 5 { await Task.yield() }
                _ = try? await bench.store.revokeToken(token.number, at: bench.clocks.now)
                _ = try? await bench.store.revokeDevices(ofToken: token.number, limit: .max)
            }
        }
        let devices = try await bench.devices()
        #expect(devices.count >= 5 && devices.allSatisfy { $0.state == .revoked })
        #expect(bench.count(.issued) == UInt64(devices.count))
        #expect(bench.count(.refused(.tokenRevoked)) == UInt64(40 - devices.count))
    }

    @Test func wrongTokensFromOneAddressReachTheStoreRarely() async throws {
        let store = CountingTokenStore(TestStore())
        let bench = try await EnrolmentBench(store: store)
        try await bench.addToken()
        let request = try EnrolmentBench.request()
        for number in 0..<500 {
            let letters = Array("abcdefghijklmnopqrstuvwxyz")
            let token =
                "et_" + String(repeating: "a", count: 30) + String([letters[number / 26], letters[number % 26]])
            _ = await bench.claim(request, token: token)
        }
        #expect(store.lookups <= 70)
        #expect(bench.count(.refused(.tooMany)) >= 490)
        // A box beside the attacker gets in when it comes again.
        let held = await bench.claim(request)
        #expect(held.status == 429)
        bench.clocks.pass(try #require(held.answer["retry_after"]?.integerValue))
        #expect(await bench.claim(request).status == 200)
    }

    /// Ten wrong tokens must not keep out the box beside them, whose token nobody has shown before.
    @Test func aGoodTokenIsLookedUpAlsoForAnAddressWithoutCredit() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        let wrong = "et_" + String(repeating: "a", count: 32)
        let request = try EnrolmentBench.request()
        for _ in 0..<20 { _ = await bench.claim(request, token: wrong) }
        #expect(await bench.renew(request).status == 429)
        #expect(await bench.claim(request, token: wrong).answer["code"] == "too_many")
        #expect(await bench.claim(request).status == 200)
    }

    /// A box that was shut out asks for ever, and each question costs the store a transaction.
    @Test func aRevokedDeviceThatHammersIsSlowed() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        let request = try EnrolmentBench.request()
        _ = await bench.claim(request)
        let device = try #require(try await bench.devices().first)
        _ = try await bench.store.changeDevice(device.id, .state(.revoked))
        for _ in 0..<200 { _ = await bench.renew(request, from: "192.0.2.66") }
        #expect(bench.count(.refused(.deviceRevoked)) == 10 && bench.count(.refused(.tooMany)) == 190)
        // Who is refused because he asks too often pays too.
        let (other, second) = (try EnrolmentBench.request(), "198.51.100.7")
        _ = await bench.claim(other, entity: "b", from: second)
        for _ in 0..<100 { _ = await bench.renew(other, from: second) }
        #expect(bench.count(.refused(.tooMany)) == 290)
    }

    /// Renewals that are granted cost nothing.
    @Test func manyVehiclesRenewFromOneAddress() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken(uses: 40)
        var requests: [String] = []
        for number in 0..<40 {
            requests.append(try EnrolmentBench.request())
            _ = await bench.claim(requests[number], entity: "van \(number)")
        }
        bench.clocks.pass(300 * 86_400)
        for request in requests { #expect(await bench.renew(request).status == 200) }
    }

    /// A token that makes no devices more is no ticket past the limits.
    @Test(arguments: [false, true]) func aTokenThatIsOverCountsAsNone(isRevoked: Bool) async throws {
        let bench = try await EnrolmentBench()
        let token = try await bench.addToken(uses: 1)
        let first = try EnrolmentBench.request()
        _ = await bench.claim(first)
        if isRevoked { _ = try await bench.store.revokeToken(token.number, at: bench.clocks.now) }
        let request = try EnrolmentBench.request()
        for number in 0..<200 { _ = await bench.claim(request, entity: "x\(number)", from: "192.0.2.66") }
        let refused = bench.count(.refused(isRevoked ? .tokenRevoked : .tokenUsedUp))
        #expect((1...11).contains(refused), "\(refused)")
        #expect(bench.count(.refused(.tooMany)) == 200 - refused)
        // The device that it has made gets its lost answer, also again and again.
        for _ in 0..<30 { #expect(await bench.claim(first, from: "192.0.2.7").status == 200) }
    }

    @Test func aBurstOfOneImageGetsInAndIsToldWhen() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken(uses: 400, pattern: try NamePattern("van {number}"))
        var due = try (0..<150).map { _ in (at: Int64(0), request: try EnrolmentBench.request()) }
        var rounds = 0
        while !due.isEmpty {
            rounds += 1
            let next = due.map(\.at).min() ?? 0
            bench.clocks.pass(max(0, next - bench.clocks.monotonic.milliseconds / 1000))
            let now = bench.clocks.monotonic.milliseconds / 1000
            var later: [(at: Int64, request: String)] = due.filter { $0.at > now }
            for box in due where box.at <= now {
                let (status, answer) = await bench.claim(box.request, entity: nil)
                if status == 200 { continue }
                let wait = try #require(answer["retry_after"]?.integerValue, "\(answer)")
                #expect(status == 429)
                later.append((now + wait, box.request))
            }
            due = later
            try #require(rounds < 100)
        }
        #expect(bench.clocks.monotonic.milliseconds < 60_000)
        #expect(Set(try await bench.devices().map(\.entity)).count == 150)
    }

    @Test func requestsThatAreNoneAreRefused() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        let good = try EnrolmentBench.request()
        for request in [
            "x", "-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n",
            good.replacingOccurrences(of: "REQUEST", with: "REQUESTS"), String(good.dropLast(200)),
            try String(contentsOfFile: #filePath, encoding: .utf8).prefix(3000).description,
            try DeviceAuthority.make(named: "x", at: Date()).certificate,
        ] {
            let (status, answer) = await bench.claim(request)
            #expect(status == 422 && answer["code"] == "request_invalid", "\(answer)")
        }
        #expect(try await bench.devices().isEmpty)
    }

    @Test func noChangedByteOfARequestIsTaken() throws {
        let pem = try EnrolmentBench.request()
        let bytes = try PEMDocument(pemString: pem).derBytes
        let whole = try DeviceCertificate.check(pem)
        var dice = SplitMix(state: 20_261_123)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= UInt8.random(in: 1...255, using: &dice)
            let text = PEMDocument(type: "CERTIFICATE REQUEST", derBytes: changed).pemString
            #expect(throws: EnrolmentRefusal.self, "byte \(index)") { try DeviceCertificate.check(text) }
        }
        for length in stride(from: 0, to: bytes.count, by: 7) {
            let text = PEMDocument(type: "CERTIFICATE REQUEST", derBytes: Array(bytes.prefix(length))).pemString
            #expect(throws: EnrolmentRefusal.self) { try DeviceCertificate.check(text) }
        }
        #expect(whole.keyHash.count == 32)
    }

    @Test(arguments: [
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], true), (["ed25519"], true), (["rsa:2048"], true),
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-521"], false), (["rsa:1024"], false), (["rsa:2047"], false),
        (["ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"], false), (["ed448"], false),
    ])
    func keysAreTakenByTheirStrength(kind: [String], isTaken: Bool) async throws {
        let made = try await run(
            "openssl", ["req", "-new", "-nodes", "-subj", "/CN=x", "-keyout", "/dev/null", "-newkey"] + kind)
        try #require(made.status == 0, "\(made.errors)")
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        let (status, answer) = await bench.claim(made.output)
        #expect(status == (isTaken ? 200 : 422), "\(answer)")
        if !isTaken {
            #expect(answer["code"] == "key_weak", "\(answer)")
            #expect(try await bench.store.tokens(in: nil).map(\.used) == [0])
        }
    }
}

/// From the first claim on the signer has no time.
private final class BusyAfterClaim: StoreDecorator {
    let inner: any EngineStore
    private let signer: DeviceSigner
    private let claims = Counter()

    init(_ inner: any EngineStore, _ signer: DeviceSigner) { (self.inner, self.signer) = (inner, signer) }

    func claim(_ request: ClaimRequest, at now: Timestamp) async throws(TrackStoreError) -> ClaimOutcome {
        claims.add()
        if claims.value == 1 { signer.mostWaiting.store(0, ordering: .relaxed) }
        return try await inner.claim(request, at: now)
    }
}

/// Counts how often a token is looked for.
private final class CountingTokenStore: StoreDecorator {
    let inner: any EngineStore
    private let counted = Counter()

    init(_ inner: any EngineStore) { self.inner = inner }

    var lookups: Int { counted.value }

    func token(matching hash: TokenHash) async throws(TrackStoreError) -> TokenRecord? {
        counted.add()
        return try await inner.token(matching: hash)
    }
}
