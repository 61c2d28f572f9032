import NIOSSL
import Synchronization
import TrackWire

/// The TLS context for new connections; a reload replaces it and leaves the open ones alone.
final class TLSContextSource: Sendable {
    private let source: GatewayTLS
    private let current: Mutex<NIOSSLContext>

    init(_ source: GatewayTLS) throws(GatewayError) {
        self.source = source
        current = Mutex(try Self.load(source))
    }

    var context: NIOSSLContext { current.withLock { $0 } }

    /// Reads the files again. Throws, and goes on with the former certificate, when they cannot be used.
    func reload() throws(GatewayError) {
        let context = try Self.load(source)
        current.withLock { $0 = context }
    }

    private static func load(_ source: GatewayTLS) throws(GatewayError) -> NIOSSLContext {
        do {
            var configuration: TLSConfiguration
            switch source {
            case .files(let certificateChain, let privateKey, let minimumVersion, let clientAuthorities):
                let chain = try NIOSSLCertificate.fromPEMFile(certificateChain)
                let key = try NIOSSLPrivateKey(file: privateKey, format: .pem)
                configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
                if let clientAuthorities {
                    let authorities = try NIOSSLCertificate.fromPEMFile(clientAuthorities)
                    configuration.trustRoots = .certificates(authorities)
                    // Clients have no host names: whose certificate it is, is the login's affair.
                    configuration.certificateVerification = .noHostnameVerification
                }
                configuration.minimumTLSVersion = minimumVersion == .tls12 ? .tlsv12 : .tlsv13
            case .configuration(let given):
                configuration = given
            }
            configuration.applicationProtocols = [WireLimits.applicationProtocol]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            let place =
                switch source {
                case .files(let certificateChain, let privateKey, _, let clientAuthorities):
                    "\(certificateChain) and \(privateKey)" + (clientAuthorities.map { ", client_ca \($0)" } ?? "")
                case .configuration: "the given configuration"
                }
            throw GatewayError(
                .certificate, "TLS: \(place) cannot be used (\(error)); give a PEM certificate chain and its key")
        }
    }
}
