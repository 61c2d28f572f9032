import Crypto
import FoundationEssentials
import TrackModel
import TrackStore

/// A store whose signing keys, those of callbacks too, are encrypted on their way in and decrypted on their way out.
///
/// It also stands around a store without encryption, so that a sealed secret is never taken for a readable one: without
/// the right key, asking for an access key that has a sealed secret throws `.failed`, and nothing else is concerned.
struct SealingStore: StoreDecorator {
    let inner: any TrackStore
    let protection: SecretProtection

    func addKey(
        _ key: KeyGrant, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        var kept = key
        if let secret = key.secret { kept.secret = try sealed(secret, AccessKeyUse(service: service, hash: key.hash)) }
        try await inner.addKey(kept, to: service, replacing: replacing, at: now)
    }

    func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord] {
        try opened(try await inner.keys(matching: hash))
    }

    func signingKeys() async throws(TrackStoreError) -> [AccessKeyRecord] {
        try opened(try await inner.signingKeys())
    }

    func replaceSecret(with secret: String, of use: AccessKeyUse) async throws(TrackStoreError) {
        try await inner.replaceSecret(with: try sealed(secret, use), of: use)
    }

    // MARK: Callbacks

    /// The secret of a service's callbacks is sealed like a signing key, under a name that no access key has.
    private static func callbacks(of service: ServiceID) -> AccessKeyUse {
        AccessKeyUse(service: service, hash: AccessKey("saker callbacks").hash)
    }

    func setCallback(_ target: CallbackTarget?, of service: ServiceID) async throws(TrackStoreError) {
        var kept = target
        if let target { kept?.secret = try sealed(target.secret, Self.callbacks(of: service)) }
        try await inner.setCallback(kept, of: service)
    }

    func callback(of service: ServiceID) async throws(TrackStoreError) -> CallbackTarget? {
        guard var target = try await inner.callback(of: service) else { return nil }
        target.secret = try opened(target.secret, Self.callbacks(of: service))
        return target
    }

    func claimCallbacks(
        of service: ServiceID, by sender: Int64, at now: Timestamp, through end: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> CallbackClaim? {
        let found = try await inner.claimCallbacks(of: service, by: sender, at: now, through: end, limit: limit)
        guard var claim = found else { return nil }
        claim.target.secret = try opened(claim.target.secret, Self.callbacks(of: service))
        return claim
    }

    // MARK: Everything

    /// Encrypts what is still readable, if there is a key to encrypt it with. Returns why signing keys cannot be used that
    /// are in use; nil when all can be.
    func sealAll() async throws(TrackStoreError) -> String? {
        for key in try await inner.signingKeys() {
            guard let secret = key.secret else { continue }
            let use = AccessKeyUse(service: key.service, hash: key.hash)
            if SecretSeal.isSealed(secret) {
                do throws(TrackStoreError) {
                    _ = try opened(secret, use)
                } catch {
                    if !key.isDisabled { return error.detail }
                }
            } else if case .sealed = protection {
                try await replaceSecret(with: secret, of: use)
            }
        }
        return nil
    }

    private func opened(_ keys: [AccessKeyRecord]) throws(TrackStoreError) -> [AccessKeyRecord] {
        var keys = keys
        for index in keys.indices {
            guard let secret = keys[index].secret else { continue }
            let use = AccessKeyUse(service: keys[index].service, hash: keys[index].hash)
            keys[index].secret = try opened(secret, use)
        }
        return keys
    }

    private func sealed(_ secret: String, _ use: AccessKeyUse) throws(TrackStoreError) -> String {
        switch protection {
        case .none: return secret
        case .sealed(let seal): return try seal.seal(secret, of: use)
        case .unavailable(let reason):
            throw TrackStoreError(.failed, "the signing key cannot be encrypted: \(reason)")
        }
    }

    private func opened(_ text: String, _ use: AccessKeyUse) throws(TrackStoreError) -> String {
        guard SecretSeal.isSealed(text) else { return text }
        switch protection {
        case .sealed(let seal): return try seal.open(text, of: use)
        case .none:
            throw TrackStoreError(
                .failed,
                "the signing key of service \(use.service.rawValue) is encrypted: give the key that it was encrypted with "
                    + "as key_file in [store], or as the credential store-key")
        case .unavailable(let reason):
            throw TrackStoreError(
                .failed, "the signing key of service \(use.service.rawValue) is encrypted: \(reason)")
        }
    }
}

/// How signing keys stand in the store.
enum SecretProtection: Sendable {
    /// Readable: the configuration names no key to encrypt them with.
    case none
    case sealed(SecretSeal)
    /// A key is configured and cannot be used; why, a sentence. No signing key is read or written.
    case unavailable(String)

    /// `path` nil: none is configured.
    init(keyFile path: String?) {
        guard let path else {
            self = .none
            return
        }
        do throws(ServerError) {
            guard let seal = SecretSeal(hex: try TextFile.read(path)) else {
                self = .unavailable(
                    "\(path) is no key for signing keys: it must hold \(SecretSeal.keyDigits) hexadecimal digits, as "
                        + "`openssl rand -hex 32` makes them")
                return
            }
            self = .sealed(seal)
        } catch {
            self = .unavailable(error.detail)
        }
    }

    /// Why no signing key can be used, if that is so.
    var problem: String? {
        if case .unavailable(let reason) = self { reason } else { nil }
    }
}

/// Encrypts the signing keys (`sk`) of a store: AES-256-GCM with a key that is not in the store.
///
/// A sealed secret is the text `sealed1:` and Base64 of nonce (12 bytes), ciphertext and tag (16 bytes). Service and hash
/// of its access key are authenticated with it, so that nobody can put it beside another key.
struct SecretSeal: Sendable {
    private static let prefix = "sealed1:"
    /// As hexadecimal digits.
    static let keyDigits = 64

    private let key: SymmetricKey

    /// The key as 64 hexadecimal digits; white space around them is no part of it. Nil for any other text.
    init?(hex text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let word = words.first, word.utf8.count == Self.keyDigits else { return nil }
        let digits = word.compactMap(\.hexDigitValue)
        guard digits.count == Self.keyDigits else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        key = SymmetricKey(data: bytes)
    }

    static func isSealed(_ text: String) -> Bool { text.hasPrefix(prefix) }

    func seal(_ secret: String, of use: AccessKeyUse) throws(TrackStoreError) -> String {
        do {
            let box = try AES.GCM.seal(Data(secret.utf8), using: key, authenticating: Self.context(use))
            let bytes = Data(Array(box.nonce)) + box.ciphertext + box.tag
            return Self.prefix + bytes.base64EncodedString()
        } catch {
            throw TrackStoreError(.failed, "a signing key cannot be encrypted: \(error)")
        }
    }

    /// Throws `.failed` for a text that another key has sealed, or that was sealed for another access key.
    func open(_ text: String, of use: AccessKeyUse) throws(TrackStoreError) -> String {
        do {
            let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))) ?? Data()
            let plain = try AES.GCM.open(
                AES.GCM.SealedBox(combined: bytes), using: key, authenticating: Self.context(use))
            return String(decoding: plain, as: UTF8.self)
        } catch {
            throw TrackStoreError(
                .failed,
                "the signing key of service \(use.service.rawValue) cannot be decrypted: key_file in [store], or the "
                    + "credential store-key, is not the one that it was encrypted with")
        }
    }

    private static func context(_ use: AccessKeyUse) -> Data {
        Data("saker signing key \(use.service.rawValue) ".utf8) + Data(use.hash.bytes)
    }
}
