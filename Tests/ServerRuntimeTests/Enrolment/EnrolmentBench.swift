import Crypto
import Enrolment
import Foundation
import JSON
import ProgramTestKit
import SwiftASN1
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import X509

@testable import ServerRuntime

/// Clocks that a test sets, in seconds from their beginning.
final class EnrolmentClocks: Sendable {
    private let seconds = Mutex<Int64>(0)

    func pass(_ more: Int64) { seconds.withLock { $0 += more } }
    var now: Timestamp { Timestamp(seconds: 1_800_000_000 + seconds.withLock { $0 }) }
    var monotonic: MonotonicTime { MonotonicTime(milliseconds: seconds.withLock { $0 } * 1000) }
}

/// A desk with a real authority over a store.
struct EnrolmentBench {
    let store: any TrackStore
    let service: ServiceID
    let enrolments: EnrolmentService
    let counters = EnrolmentCounters()
    let clocks = EnrolmentClocks()
    let lines = RecordedLines()
    let authority: Certificate
    private let directory: TemporaryDirectory

    init(
        store: any TrackStore = TestStore(), hasKey: Bool = true, signer: DeviceSigner = DeviceSigner()
    ) async throws {
        self.store = store
        directory = try TemporaryDirectory()
        service = try await store.createService(named: "fleet", at: Timestamp(seconds: 0)).id
        let pair = try DeviceAuthority.make(named: "Test", at: Date(timeIntervalSince1970: 1_790_000_000))
        authority = try Certificate(pemEncoded: pair.certificate)
        try pair.certificate.write(toFile: directory.path + "/device-ca.pem", atomically: true, encoding: .utf8)
        if hasKey {
            try pair.key.write(toFile: directory.path + "/device-ca-key.pem", atomically: true, encoding: .utf8)
        }
        let file = directory.path + "/server.toml"
        try "[device]\nauthority = \"device-ca.pem\"\n[enrollment]\nhost = \"tracks.example.net\"\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        let clocks = clocks
        enrolments = EnrolmentService(
            store: store, place: EnrolmentIssuer(try ServerConfiguration.load(path: file)), counters: counters,
            logger: lines.logger, now: { clocks.now }, clock: { clocks.monotonic }, signer: signer)
    }

    static let token = "et_abcdefghijklmnopqrstuvwxyz234567"

    @discardableResult func addToken(
        _ token: String = Self.token, uses: Int = 10, approval: TokenApproval = .automatic,
        pattern: NamePattern = .wish
    ) async throws -> TokenRecord {
        try await store.addToken(
            NewToken(
                hash: TokenHash(of: token), service: service, uses: uses, pattern: pattern, approval: approval),
            at: clocks.now)
    }

    /// A request that its key has signed. What it says beside the key must have no meaning.
    static func request(_ key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()) throws -> String {
        let key = Certificate.PrivateKey(key)
        let extensions = try Certificate.Extensions {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            SubjectAlternativeNames([
                .dnsName("tracks.example.net"), .uniformResourceIdentifier(DeviceID.sample(7).uri),
            ])
        }
        return try CertificateSigningRequest(
            version: .v1,
            subject: try DistinguishedName {
                CommonName("tracks.example.net")
                OrganizationName("Somebody else")
            }, privateKey: key,
            attributes: try CertificateSigningRequest.Attributes([.init(ExtensionRequest(extensions: extensions))]),
            signatureAlgorithm: .ecdsaWithSHA256
        ).serializeAsPEM().pemString
    }

    func claim(
        _ request: String, entity: String? = "van", token: String = Self.token, from address: String = "192.0.2.1"
    ) async -> (status: Int, answer: [String: JSONValue]) {
        var body: [String: JSONValue] = ["token": .string(token), "request": .string(request)]
        if let entity { body["entity"] = .string(entity) }
        return await call(EnrolmentCall.claimPath, body, from: address)
    }

    func renew(_ request: String, from address: String = "192.0.2.1") async -> (
        status: Int, answer: [String: JSONValue]
    ) {
        await call(EnrolmentCall.renewalPath, ["request": .string(request)], from: address)
    }

    /// As a vehicle of this version renews: the second request signs what the first answer asks for.
    func renewWithProof(
        _ key: P256.Signing.PrivateKey, nonce changed: String? = nil, from address: String = "192.0.2.1"
    ) async throws -> (status: Int, answer: [String: JSONValue], request: [String: JSONValue]) {
        let first = await call(
            EnrolmentCall.renewalPath, ["request": .string(try Self.request(key)), "proves": true], from: address)
        guard first.status == 401, let nonce = changed ?? first.answer["nonce"]?.stringValue else {
            return (first.status, first.answer, [:])
        }
        let signed = try CertificateSigningRequest(
            version: .v1, subject: try DistinguishedName { CommonName("renew:\(nonce)") },
            privateKey: Certificate.PrivateKey(key), attributes: CertificateSigningRequest.Attributes(),
            signatureAlgorithm: .ecdsaWithSHA256
        ).serializeAsPEM().pemString
        let body: [String: JSONValue] = ["request": .string(signed), "proves": true, "nonce": .string(nonce)]
        let second = await call(EnrolmentCall.renewalPath, body, from: address)
        return (second.status, second.answer, body)
    }

    func call(
        _ path: String, _ body: [String: JSONValue], from address: String
    ) async -> (status: Int, answer: [String: JSONValue]) {
        let reply = await enrolments.answer(
            EnrolmentCall(
                method: "POST", path: path, body: JSONValue.object(body).serialized(), address: address,
                origin: EnrolmentLimits.Origin(address)))
        return (reply.status, (try? JSONReader.value(of: reply.body))?.objectValue ?? [:])
    }

    func count(_ outcome: EnrolmentCounters.Outcome) -> UInt64 {
        counters.counts.first { $0.outcome == outcome }?.count ?? 0
    }

    func devices() async throws -> [DeviceRecord] {
        try await store.devices(in: nil, page: Page(offset: 0, limit: 1000)).devices
    }
}

final class Counter: Sendable {
    private let count = Mutex(0)

    func add() { count.withLock { $0 += 1 } }
    var value: Int { count.withLock { $0 } }
}
