import Crypto
import FoundationEssentials
import TrackModel
import TrackStore

/// How signing keys and the secrets of callbacks stand in a store.
package enum SecretProtection: Sendable {
    /// Readable: the configuration names no key to encrypt them with.
    case none
    case sealed(SecretSeal)
    /// A key is configured and cannot be used; why, a sentence. No signing key is read or written.
    case unavailable(String)

    /// Why no signing key can be used, if that is so.
    package var problem: String? {
        if case .unavailable(let reason) = self { reason } else { nil }
    }

    /// The text that the store keeps. Throws `.failed`.
    func sealed(_ secret: String, of use: AccessKeyUse) throws(TrackStoreError) -> String {
        switch self {
        case .none: return secret
        case .sealed(let seal): return try seal.seal(secret, of: use)
        case .unavailable(let reason):
            throw TrackStoreError(.failed, "the signing key cannot be encrypted: \(reason)")
        }
    }

    /// The secret of a text that the store keeps. Throws `.failed` for a sealed text without the right key, also where the
    /// configuration names none: a sealed secret is never taken for a readable one.
    func opened(_ text: String, of use: AccessKeyUse) throws(TrackStoreError) -> String {
        guard SecretSeal.isSealed(text) else { return text }
        switch self {
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

extension AccessKeyUse {
    /// The secret of a service's callbacks is sealed like a signing key, under a name that no access key has.
    static func callbacks(of service: ServiceID) -> AccessKeyUse {
        AccessKeyUse(service: service, hash: AccessKey("saker callbacks").hash)
    }
}

/// Encrypts the signing keys (`sk`) of a store: AES-256-GCM with a key that is not in the store.
///
/// A sealed secret is the text `sealed1:` and Base64 of nonce (12 bytes), ciphertext and tag (16 bytes). Service and hash
/// of its access key are authenticated with it, so that nobody can put it beside another key.
package struct SecretSeal: Sendable {
    private static let prefix = "sealed1:"
    /// As hexadecimal digits.
    package static let keyDigits = 64

    private let key: SymmetricKey

    /// The key as 64 hexadecimal digits; white space around them is no part of it. Nil for any other text.
    package init?(hex text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let word = words.first, word.utf8.count == Self.keyDigits else { return nil }
        let digits = word.compactMap(\.hexDigitValue)
        guard digits.count == Self.keyDigits else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        key = SymmetricKey(data: bytes)
    }

    package static func isSealed(_ text: String) -> Bool { text.hasPrefix(prefix) }

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
