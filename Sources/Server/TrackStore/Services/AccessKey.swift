import Crypto
package import TrackModel

/// An access key (`ak`) as a person or an agent presents it. Never logged, never stored: see ``AccessKeyHash``.
package struct AccessKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// A new key: 160 random bits as 32 letters and digits (Crockford's base 32, lower case).
    package static func generate(using generator: inout some RandomNumberGenerator) -> AccessKey {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
        return AccessKey(String((0..<32).map { _ in alphabet[Int.random(in: 0..<32, using: &generator)] }))
    }

    package var hash: AccessKeyHash {
        AccessKeyHash(bytes: Array(SHA256.hash(data: Array(text.utf8))))
    }

    /// The key itself, to be shown once to the person who made it.
    package var revealed: String { text }

    package var description: String { "<access key>" }
    package var debugDescription: String { description }
}

/// SHA-256 of an access key: what the store keeps. Keys have 160 random bits, so no salt or slow hash is needed.
package struct AccessKeyHash: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The first 48 bits in hexadecimal: by this people name a key without showing it.
    package var number: String {
        bytes.prefix(6).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// Takes the same time wherever the first difference is.
    package static func constantTimeEqual(_ left: Self, _ right: Self) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        return zip(left.bytes, right.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// A key with the service that it opens, as a session or a request uses it.
package struct AccessKeyUse: Hashable, Sendable {
    package var service: ServiceID
    package var hash: AccessKeyHash

    package init(service: ServiceID, hash: AccessKeyHash) {
        self.service = service
        self.hash = hash
    }
}

/// A key's right to one service.
package struct AccessKeyRecord: Sendable {
    package var hash: AccessKeyHash
    package var service: ServiceID
    /// The `sk` of a key whose requests must be signed, as it was given to ``KeyGrant/secret``.
    package var secret: String?
    package var isDisabled: Bool
    /// The app code of the service: see ``ServiceRecord/appCode``.
    package var appCode: String?
    package var rights: KeyRights

    package init(
        hash: AccessKeyHash, service: ServiceID, secret: String?, isDisabled: Bool, appCode: String? = nil,
        rights: KeyRights
    ) {
        self.hash = hash
        self.service = service
        self.secret = secret
        self.isDisabled = isDisabled
        self.appCode = appCode
        self.rights = rights
    }

    /// True when the service has no app code, or when this is it. Compares bytes, in a time that does not tell where they
    /// differ.
    package func accepts(appCode given: String) -> Bool {
        guard let appCode else { return true }
        let (given, wanted) = (Array(given.utf8), Array(appCode.utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// A key that is about to be added to a service.
package struct KeyGrant: Sendable {
    package var hash: AccessKeyHash
    /// The `sk` of a key whose requests must be signed.
    package var secret: String?
    package var rights: KeyRights

    package init(_ hash: AccessKeyHash, secret: String? = nil, rights: KeyRights) {
        self.hash = hash
        self.secret = secret
        self.rights = rights
    }
}

/// A key of a service as an operator sees it: everything but the key and its secret.
package struct KeyListing: Hashable, Sendable {
    package var hash: AccessKeyHash
    /// When the key was made, or added again.
    package var created: Timestamp
    /// Requests with this key must be signed.
    package var isSigned: Bool
    package var isDisabled: Bool
    package var rights: KeyRights

    package init(
        hash: AccessKeyHash, created: Timestamp, isSigned: Bool, isDisabled: Bool, rights: KeyRights
    ) {
        self.hash = hash
        self.created = created
        self.isSigned = isSigned
        self.isDisabled = isDisabled
        self.rights = rights
    }
}
