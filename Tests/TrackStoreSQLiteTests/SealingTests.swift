import FoundationEssentials
import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

@Suite("Signing keys in the store")
struct SealingTests {
    private static let digits = String(repeating: "0123456789abcdef", count: 4)
    private let hash = AccessKey("key").hash
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    private func sealing(_ digits: String) throws -> SecretProtection {
        .sealed(try #require(SecretSeal(hex: digits)))
    }

    /// The store, opened once more, with a protection.
    private func open(_ protection: SecretProtection) async throws -> SQLiteTrackStore {
        try await bench.open(nil, SQLiteTrackStoreOptions(synchronous: .normal, secrets: protection))
    }

    /// A new store with a signed key and a plain one.
    private func make(_ protection: SecretProtection) async throws -> (store: SQLiteTrackStore, service: ServiceID) {
        let store = try await open(protection)
        let service = try await store.createService(named: "fleet", at: Timestamp(seconds: 0)).id
        try await store.addKey(hash, secret: "the sk", to: service, replacing: false, at: Timestamp(seconds: 1))
        try await store.addKey(
            AccessKey("plain").hash, secret: nil, to: service, replacing: false, at: Timestamp(seconds: 1))
        return (store, service)
    }

    private func secret(_ protection: SecretProtection) async throws -> String? {
        try await open(protection).keys(matching: hash).first?.secret
    }

    /// What stands in the file.
    private func stored(_ table: String) throws -> [String] {
        let file = try SQLiteConnection(path: bench.path, .readOnly, busyTimeout: 5)
        defer { file.close() }
        return try file.values(String.self, "SELECT secret FROM \(table) WHERE secret IS NOT NULL ORDER BY service")
    }

    @Test(arguments: TrackStoreContract.services + TrackStoreContract.callbacks) func aStoreBehavesAsBeforeWithIt(
        _ check: TrackStoreCheck
    ) async throws {
        let protection = try sealing(Self.digits)
        let folder = bench.folder
        let subject = TrackStoreSubject(encode: Workbench.encode) {
            try await bench.open(
                folder.appending(path: "sealed-\(UInt64.random(in: 0...UInt64.max)).sqlite").path(),
                SQLiteTrackStoreOptions(synchronous: .normal, secrets: protection))
        }
        try await check.run(subject)
    }

    @Test func theSecretOfCallbacksIsSealedForItsServiceAlone() async throws {
        let right = try sealing(Self.digits)
        let (store, service) = try await make(right)
        let target = CallbackTarget(url: "https://example.org/alarms", secret: "the secret")
        try await store.setCallback(target, of: service)
        let kept = try #require(try stored("callback_target").first)
        #expect(SecretSeal.isSealed(kept))
        #expect(try await store.callback(of: service) == target)
        let other = try await store.createService(named: "other", at: Timestamp(seconds: 0)).id
        let readable = try await open(.none)
        try await readable.setCallback(CallbackTarget(url: target.url, secret: kept), of: other)
        await #expect(throws: TrackStoreError.self) { try await readable.callback(of: service) }
        await #expect(throws: TrackStoreError.self) { try await store.callback(of: other) }
    }

    @Test func aSealedSecretIsReadableWithItsKeyAlone() async throws {
        let right = try sealing(Self.digits)
        let (store, service) = try await make(right)
        let kept = try #require(try stored("access_key").first)
        #expect(SecretSeal.isSealed(kept))
        #expect(!kept.contains("the sk"))
        #expect(try await secret(right) == "the sk")
        let wrong = try sealing(String(Self.digits.reversed()))
        for (protection, words) in [
            (wrong, "is not the one"), (SecretProtection.none, "key_file"),
            (SecretProtection.unavailable("the reason"), "the reason"),
        ] {
            let error = await #expect(throws: TrackStoreError.self) { try await secret(protection) }
            #expect(error?.detail.contains(words) == true)
            #expect(error?.detail.contains("service \(service.rawValue)") == true)
            // Other keys are not concerned.
            let other = try await open(protection)
            #expect(try await other.keys(matching: AccessKey("plain").hash).count == 1)
            #expect(try await other.sealSecrets()?.contains(words) == true)
        }
        #expect(try await store.sealSecrets() == nil)
    }

    @Test func aSealedSecretBelongsToItsAccessKey() async throws {
        let right = try sealing(Self.digits)
        let (store, service) = try await make(right)
        let kept = try #require(try stored("access_key").first)
        let other = AccessKey("other").hash
        try await open(.none).addKey(other, secret: kept, to: service, replacing: false, at: Timestamp(seconds: 2))
        await #expect(throws: TrackStoreError.self) { try await store.keys(matching: other) }
        // The same secret never looks the same.
        try await store.addKey(hash, secret: "the sk", to: service, replacing: false, at: Timestamp(seconds: 3))
        #expect(try stored("access_key").filter { $0 == kept }.count == 1, "that of the other key alone")
    }

    @Test func readableSecretsAreSealedOnceThereIsAKey() async throws {
        _ = try await make(.none)
        #expect(try await secret(.none) == "the sk")
        let right = try sealing(Self.digits)
        #expect(try await secret(right) == "the sk", "before it is sealed")
        #expect(try await open(right).sealSecrets() == nil)
        #expect(SecretSeal.isSealed(try #require(try stored("access_key").first)))
        #expect(try await secret(right) == "the sk")
    }

    @Test func withoutItsConfiguredKeyNoSigningKeyIsMade() async throws {
        let (_, service) = try await make(.none)
        let broken = try await open(.unavailable("no file"))
        await #expect(throws: TrackStoreError.self) {
            try await broken.addKey(hash, secret: "x", to: service, replacing: false, at: Timestamp(seconds: 1))
        }
        try await broken.addKey(hash, secret: nil, to: service, replacing: false, at: Timestamp(seconds: 1))
        #expect(try await broken.sealSecrets() == "no file")
    }
}
