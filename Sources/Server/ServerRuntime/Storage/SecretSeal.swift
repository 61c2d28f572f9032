import Crypto
import FoundationEssentials
import TrackModel
import TrackStore

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
