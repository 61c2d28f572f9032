/// How the agent proves who the server is, and who it is itself.
package struct TLSClientOptions: Hashable, Sendable {
    /// Whose word is taken for the server's certificate.
    package enum Trust: Hashable, Sendable {
        /// The distribution's certificate authorities.
        case systemRoots
        /// Only the certificate authorities in this PEM file (one or several).
        case authorities(file: String)
        /// Nobody's: the server's key must be one of ``TLSClientOptions/pins``, and that is enough.
        ///
        /// Name and validity dates are still checked: a key that leaked or moved can then be retired by its
        /// certificate, as with any other trust. Only the chain of authorities is not asked for.
        case pinnedKeys
    }

    /// The oldest TLS version spoken.
    package enum Version: String, Hashable, Sendable, CaseIterable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    /// Where a private key is.
    package enum PrivateKey: Hashable, Sendable {
        /// A PEM file that is not encrypted.
        case file(String)
        /// An OpenSSL store URI: `pkcs11:…`, `handle:…` (TPM), `file:…`; an OpenSSL provider must know the scheme.
        case store(uri: String)

        /// A path or a URI, told apart by the scheme: `/etc/saker/key.pem` is a path, `pkcs11:object=box` a URI.
        package init(parsing text: String) {
            let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
            let isURI = scheme.first?.isLetter == true && text.dropFirst(scheme.count).first == ":"
            self = isURI ? .store(uri: text) : .file(text)
        }
    }

    /// The certificate shown to a server that asks for one.
    package struct ClientCertificate: Hashable, Sendable {
        /// A PEM file: the certificate, then the intermediate ones.
        package var chainFile: String
        package var key: PrivateKey

        package init(chainFile: String, key: PrivateKey) {
            self.chainFile = chainFile
            self.key = key
        }
    }

    package var trust: Trust

    /// When not empty the server's public key must be one of these, whatever ``trust`` says besides.
    package var pins: Set<PublicKeyPin>

    /// The name or address that the server's certificate must hold; nil: the one connected to.
    package var serverName: String?

    package var clientCertificate: ClientCertificate?

    package var minimumVersion: Version

    /// The application protocol (RFC 7301) that the server must choose, 1...255 bytes.
    package var applicationProtocol: String

    package init(
        trust: Trust = .systemRoots, pins: Set<PublicKeyPin> = [], serverName: String? = nil,
        clientCertificate: ClientCertificate? = nil, minimumVersion: Version = .tls13,
        applicationProtocol: String = "saker/1"
    ) {
        self.trust = trust
        self.pins = pins
        self.serverName = serverName
        self.clientCertificate = clientCertificate
        self.minimumVersion = minimumVersion
        self.applicationProtocol = applicationProtocol
    }
}

/// Something in the options that works but should be looked at.
package enum TLSWarning: Hashable, Sendable, CustomStringConvertible {
    /// Others than the owner may read or change the private key; `mode` holds the permission bits.
    case keyFileOpenToOthers(path: String, mode: UInt32)

    package var description: String {
        switch self {
        case .keyFileOpenToOthers(let path, let mode):
            "the private key \(path) has mode \(String(mode, radix: 8)): chmod 600 it, only its owner should read it"
        }
    }
}
