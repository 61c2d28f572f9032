import NIOCore
package import NIOSSL
import Synchronization

/// The server's certificate chain and key, which can be exchanged while connections come in.
///
/// A connection keeps what it began with; the next handshake uses what was loaded last.
package final class ServerIdentity: Sendable {
    private struct Loaded: Sendable {
        var chain: [NIOSSLCertificate]
        var key: NIOSSLPrivateKey
    }

    private let certificateFile: String
    private let keyFile: String
    private let loaded: Mutex<Loaded>

    /// Reads both PEM files; throws ``ServerIdentityError`` when they cannot be read or do not belong together.
    package init(certificateFile: String, keyFile: String) throws(ServerIdentityError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        loaded = Mutex(try Self.load(certificateFile, keyFile))
    }

    /// Reads the files again; on a throw the old ones stay in use.
    package func reload() throws(ServerIdentityError) {
        let new = try Self.load(certificateFile, keyFile)
        loaded.withLock { $0 = new }
    }

    /// For a listener; follows later reloads.
    package func configuration(
        minimumVersion: TLSVersion = .tlsv12, applicationProtocols: [String] = []
    ) -> TLSConfiguration {
        let first = loaded.withLock { $0 }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: first.chain.map { .certificate($0) }, privateKey: .privateKey(first.key))
        configuration.minimumTLSVersion = minimumVersion
        configuration.applicationProtocols = applicationProtocols
        configuration.sslContextCallback = { [self] _, promise in
            let current = loaded.withLock { $0 }
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = current.chain.map { .certificate($0) }
            override.privateKey = .privateKey(current.key)
            promise.succeed(override)
        }
        return configuration
    }

    private static func load(
        _ certificateFile: String, _ keyFile: String
    ) throws(ServerIdentityError) -> Loaded {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
        } catch {
            throw ServerIdentityError(
                "\(certificateFile) holds no readable certificate in PEM: check the path, the file's owner and mode")
        }
        guard !chain.isEmpty else { throw ServerIdentityError("\(certificateFile) holds no certificate") }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
        } catch {
            throw ServerIdentityError(
                "\(keyFile) holds no readable private key in PEM without a password: check the path, owner and mode")
        }
        // A context is the one place where it shows whether certificate and key belong together.
        do {
            _ = try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
        } catch {
            throw ServerIdentityError("the key in \(keyFile) does not belong to the certificate in \(certificateFile)")
        }
        return Loaded(chain: chain, key: key)
    }
}

/// Why a certificate or key cannot be used; names the file, never its content.
package struct ServerIdentityError: Error, Equatable, CustomStringConvertible {
    package let detail: String

    package init(_ detail: String) {
        self.detail = detail
    }

    package var description: String { detail }
}
