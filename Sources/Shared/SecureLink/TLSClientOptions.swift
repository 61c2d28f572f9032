internal import Glibc
package import TrackModel

/// How a client verifies the server, and how it identifies itself.
package struct TLSClientOptions: Hashable, Sendable {
    /// Who must have signed the server's certificate.
    package enum Trust: Hashable, Sendable {
        /// The distribution's certificate authorities.
        case systemRoots
        /// Only the certificate authorities in this PEM file (one or several).
        case authorities(file: String)
        /// Only the certificate authority with this certificate, in DER.
        case authority([UInt8])
        /// The distribution's certificate authorities, and those in this PEM file.
        case systemRootsAnd(file: String)
        /// No authority: the key of one certificate that the server shows, its own or an authority's, must be one of
        /// ``TLSClientOptions/pins``. That certificate is trusted then, with what it has signed, and nothing else.
        ///
        /// Name and dates are still checked, so a certificate can retire a leaked or moved key, as with any other
        /// trust.
        case pinnedKeys
    }

    /// Where a private key is.
    package enum PrivateKey: Hashable, Sendable {
        /// A PEM file that is not encrypted.
        case file(String)
        /// An OpenSSL store URI: `pkcs11:…`, `handle:…` (TPM), `file:…`. An OpenSSL provider must know the scheme.
        case store(uri: String)

        /// A path or a URI; the scheme decides: `/etc/saker/key.pem` is a path, `pkcs11:object=box` is a URI.
        package init(parsing text: String) {
            let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
            let isURI = scheme.first?.isLetter == true && text.dropFirst(scheme.count).first == ":"
            self = isURI ? .store(uri: text) : .file(text)
        }
    }

    /// How OpenSSL opens a store URI.
    package struct KeyStore: Hashable, Sendable {
        /// The part of OpenSSL that knows the URI's scheme.
        package enum Opener: Hashable, Sendable {
            /// Whatever openssl.cnf activates; otherwise, for `pkcs11:`, the engine of that name.
            case automatic
            /// The provider of this name, which the agent loads: `tpm2`, `pkcs11`.
            case provider(String)
            /// The engine of this name, which the agent loads: `pkcs11`.
            case engine(String)

            /// `NAME` for a provider, `engine:NAME` for an engine.
            package init(parsing text: String) {
                let prefix = "engine:"
                self =
                    text.hasPrefix(prefix) ? .engine(String(text.dropFirst(prefix.count))) : .provider(text)
            }
        }

        package var opener: Opener
        /// The PKCS#11 module (a shared library) for an engine; nil for the module that the engine is configured for.
        package var module: String?
        /// A file that holds only the PIN or passphrase, and white space around it.
        package var pinFile: String?

        package init(opener: Opener = .automatic, module: String? = nil, pinFile: String? = nil) {
            self.opener = opener
            self.module = module
            self.pinFile = pinFile
        }
    }

    /// The certificate for a server that asks for one.
    package struct ClientCertificate: Hashable, Sendable {
        /// A PEM file: the certificate, then the intermediate certificates.
        package var chainFile: String
        /// A file of the same kind, which may be missing: used when the key is not that of ``chainFile`` and is that of this one.
        /// The two of a replacement are never replaced at one moment.
        package var nextChainFile: String?
        package var key: PrivateKey
        /// How to open a key that is a store URI.
        package var store: KeyStore

        package init(
            chainFile: String, nextChainFile: String? = nil, key: PrivateKey, store: KeyStore = KeyStore()
        ) {
            self.chainFile = chainFile
            self.nextChainFile = nextChainFile
            self.key = key
            self.store = store
        }
    }

    package var trust: Trust

    /// When not empty, the server's own public key must be one of these, in addition to what ``trust`` demands. For
    /// ``Trust/pinnedKeys`` it may also be an authority's.
    package var pins: Set<PublicKeyPin>

    /// The name or address that the server's certificate must hold; nil for the host that the agent connects to.
    package var serverName: String?

    package var clientCertificate: ClientCertificate?

    package var minimumVersion: MinimumTLS

    /// The application protocol (RFC 7301) that the server must choose, 1...255 bytes.
    package var applicationProtocol: String

    /// Whether a server that chooses no application protocol is refused. Web servers may choose none for HTTP/1.1.
    package var requiresApplicationProtocol: Bool

    /// Whether a connection goes on with the session of an earlier one, which saves its certificates.
    package var resumesSessions = true

    package init(
        trust: Trust = .systemRoots, pins: Set<PublicKeyPin> = [], serverName: String? = nil,
        clientCertificate: ClientCertificate? = nil, minimumVersion: MinimumTLS = .v13,
        applicationProtocol: String = "saker/1", requiresApplicationProtocol: Bool = true
    ) {
        self.trust = trust
        self.pins = pins
        self.serverName = serverName
        self.clientCertificate = clientCertificate
        self.minimumVersion = minimumVersion
        self.applicationProtocol = applicationProtocol
        self.requiresApplicationProtocol = requiresApplicationProtocol
    }
}

extension TLSClientOptions {
    /// For a web server: TLS 1.2 or later, HTTP/1.1. `serverName`: the name in the certificate; nil: the address's host.
    package static func web(
        _ trust: Trust, pins: Set<PublicKeyPin> = [], serverName: String? = nil
    ) -> TLSClientOptions {
        TLSClientOptions(
            trust: trust, pins: pins, serverName: serverName, minimumVersion: .v12, applicationProtocol: "http/1.1",
            requiresApplicationProtocol: false)
    }
}

/// Options that work but that a person should look at.
package enum TLSWarning: Hashable, Sendable, CustomStringConvertible {
    /// Other users than the owner can read or change the private key. `mode` holds the permission bits.
    case keyFileOpenToOthers(path: String, mode: UInt32)
    /// The same for a file with a PIN.
    case pinFileOpenToOthers(path: String, mode: UInt32)

    package var description: String {
        switch self {
        case .keyFileOpenToOthers(let path, let mode):
            "the private key \(path) has mode \(String(mode, radix: 8)): chmod 600 it, only its owner should read it"
        case .pinFileOpenToOthers(let path, let mode):
            "the PIN in \(path) has mode \(String(mode, radix: 8)): chmod 600 it, only its owner should read it"
        }
    }
}

/// The files that the options name, with their state on disk. If two stamps differ, there is something to read again.
package struct TLSFileStamps: Hashable, Sendable {
    private struct Stamp: Hashable, Sendable {
        /// 0, or the error number of stat.
        var error: Int32 = 0
        var device: UInt64 = 0
        var inode: UInt64 = 0
        var size: Int64 = 0
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        var mode: UInt32 = 0
    }

    private let stamps: [String: Stamp]

    /// Looks at the files now. May wait for their disk.
    package init(of options: TLSClientOptions) {
        stamps = Dictionary(options.files.map { ($0, Self.stamp($0)) }) { first, _ in first }
    }

    private static func stamp(_ path: String) -> Stamp {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return Stamp(error: errno) }
        return Stamp(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec), mode: status.st_mode)
    }
}

extension TLSClientOptions {
    /// The files that ``TLSContext`` reads for these options.
    package var files: [String] {
        var files: [String] = []
        switch trust {
        case .authorities(let file), .systemRootsAnd(let file): files.append(file)
        case .systemRoots, .authority, .pinnedKeys: break
        }
        if let certificate = clientCertificate {
            files.append(certificate.chainFile)
            if let next = certificate.nextChainFile { files.append(next) }
            switch certificate.key {
            case .file(let path): files.append(path)
            case .store(let uri):
                if uri.hasPrefix("file:/") { files.append(String(uri.dropFirst("file:".count))) }
                if let pin = certificate.store.pinFile { files.append(pin) }
            }
        }
        return files
    }
}
