import Foundation
import ProgramTestKit
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

@Suite("Signing keys in the store")
struct SealingTests {
    private static let digits = String(repeating: "0123456789abcdef", count: 4)
    private let hash = AccessKey("key").hash

    private func sealing(_ digits: String) throws -> SecretProtection {
        .sealed(try #require(SecretSeal(hex: digits)))
    }

    /// A store with a signed key and a plain one, seen through a protection.
    private func store(_ protection: SecretProtection) async throws -> (inner: TestStore, service: ServiceID) {
        let inner = TestStore()
        let service = try await inner.createService(named: "fleet", at: Timestamp(seconds: 0)).id
        let store = SealingStore(inner: inner, protection: protection)
        try await store.addKey(hash, secret: "the sk", to: service, replacing: false, at: Timestamp(seconds: 1))
        try await store.addKey(
            AccessKey("plain").hash, secret: nil, to: service, replacing: false, at: Timestamp(seconds: 1))
        return (inner, service)
    }

    private func secret(_ inner: TestStore, _ protection: SecretProtection) async throws -> String? {
        try await SealingStore(inner: inner, protection: protection).keys(matching: hash).first?.secret
    }

    @Test(arguments: TrackStoreContract.services + TrackStoreContract.callbacks) func aStoreBehavesAsBeforeWithIt(
        _ check: TrackStoreCheck
    )
        async throws
    {
        for protection in [SecretProtection.none, try sealing(Self.digits)] {
            let subject = TrackStoreSubject(encode: { _ in EncodedPoints(isCompressed: false, bytes: []) }) {
                SealingStore(inner: TestStore(), protection: protection)
            }
            try await check.run(subject)
        }
    }

    @Test func theSecretOfCallbacksIsSealedForItsServiceAlone() async throws {
        let right = try sealing(Self.digits)
        let (inner, service) = try await store(right)
        let target = CallbackTarget(url: "https://example.org/alarms", secret: "the secret")
        try await SealingStore(inner: inner, protection: right).setCallback(target, of: service)
        let kept = try #require(try await inner.callback(of: service))
        #expect(kept.url == target.url)
        #expect(SecretSeal.isSealed(kept.secret))
        #expect(try await SealingStore(inner: inner, protection: right).callback(of: service) == target)
        let other = try await inner.createService(named: "other", at: Timestamp(seconds: 0)).id
        try await inner.setCallback(kept, of: other)
        for (service, protection) in [(service, SecretProtection.none), (other, right)] {
            let store = SealingStore(inner: inner, protection: protection)
            await #expect(throws: TrackStoreError.self) { try await store.callback(of: service) }
        }
    }

    @Test func aSealedSecretIsReadableWithItsKeyAlone() async throws {
        let right = try sealing(Self.digits)
        let (inner, service) = try await store(right)
        let kept = try #require(try await inner.keys(matching: hash).first?.secret)
        #expect(SecretSeal.isSealed(kept))
        #expect(!kept.contains("the sk"))
        #expect(try await secret(inner, right) == "the sk")
        let wrong = try sealing(String(Self.digits.reversed()))
        for (protection, words) in [
            (wrong, "is not the one"), (SecretProtection.none, "key_file"),
            (SecretProtection.unavailable("the reason"), "the reason"),
        ] {
            let error = await #expect(throws: TrackStoreError.self) { try await secret(inner, protection) }
            #expect(error?.detail.contains(words) == true)
            #expect(error?.detail.contains("service \(service.rawValue)") == true)
            // Other keys are not concerned.
            let other = SealingStore(inner: inner, protection: protection)
            #expect(try await other.keys(matching: AccessKey("plain").hash).count == 1)
            #expect(try await other.sealAll()?.contains(words) == true)
        }
        #expect(try await SealingStore(inner: inner, protection: right).sealAll() == nil)
    }

    @Test func aSealedSecretBelongsToItsAccessKey() async throws {
        let right = try sealing(Self.digits)
        let (inner, service) = try await store(right)
        let kept = try #require(try await inner.keys(matching: hash).first?.secret)
        let other = AccessKey("other").hash
        try await inner.addKey(other, secret: kept, to: service, replacing: false, at: Timestamp(seconds: 2))
        await #expect(throws: TrackStoreError.self) {
            try await SealingStore(inner: inner, protection: right).keys(matching: other)
        }
        // The same secret never looks the same.
        try await SealingStore(inner: inner, protection: right)
            .addKey(hash, secret: "the sk", to: service, replacing: false, at: Timestamp(seconds: 3))
        #expect(try await inner.keys(matching: hash).first?.secret != kept)
    }

    @Test func readableSecretsAreSealedOnceThereIsAKey() async throws {
        let (inner, _) = try await store(.none)
        #expect(try await secret(inner, .none) == "the sk")
        let right = try sealing(Self.digits)
        #expect(try await secret(inner, right) == "the sk", "before it is sealed")
        #expect(try await SealingStore(inner: inner, protection: right).sealAll() == nil)
        #expect(SecretSeal.isSealed(try #require(try await inner.keys(matching: hash).first?.secret)))
        #expect(try await secret(inner, right) == "the sk")
    }

    @Test func withoutItsConfiguredKeyNoSigningKeyIsMade() async throws {
        let (inner, service) = try await store(.none)
        let broken = SealingStore(inner: inner, protection: .unavailable("no file"))
        await #expect(throws: TrackStoreError.self) {
            try await broken.addKey(hash, secret: "x", to: service, replacing: false, at: Timestamp(seconds: 1))
        }
        try await broken.addKey(hash, secret: nil, to: service, replacing: false, at: Timestamp(seconds: 1))
    }

    @Test func aKeyFileHoldsSixtyFourDigits() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store.key"
        #expect(SecretProtection(keyFile: nil).problem == nil)
        #expect(SecretProtection(keyFile: path).problem?.contains(path) == true)
        for (text, isKey) in [
            (Self.digits, true), (Self.digits.uppercased() + "\n", true), (" \n" + Self.digits + " ", true),
            (String(Self.digits.dropLast()), false), (Self.digits + "0", false), ("", false),
            (String(Self.digits.dropLast()) + "g", false), (String(Self.digits.dropLast(2)) + "é", false),
        ] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let problem = SecretProtection(keyFile: path).problem
            #expect((problem == nil) == isKey, "\(text)")
            if let problem { #expect(problem.contains("openssl rand -hex 32")) }
        }
    }
}
