import ConfigurationFile
import Glibc
import Synchronization
import TrackModel

/// What claims are answered with: the authority that signs, and where devices find this server. Read from files, and again
/// after they have changed.
final class EnrolmentPlace: Sendable {
    struct Terms: Sendable {
        var authority: DeviceCertificate.Authority
        var host: String
        var port: Int
        var webAddress: String?
        /// The server's own authority in PEM; nil: devices trust those of their systems.
        var serverAuthority: String?
    }

    private let configuration: ServerConfiguration
    private let state: Mutex<Result<Terms, ServerError>>

    init(_ configuration: ServerConfiguration) {
        self.configuration = configuration
        state = Mutex(Self.read(configuration))
    }

    /// Throws why nothing can be issued, and what to do.
    var terms: Terms {
        get throws(ServerError) { try state.withLock { $0 }.get() }
    }

    func reload() {
        let new = Self.read(configuration)
        state.withLock { $0 = new }
    }

    /// The files that the terms are made of.
    static func files(_ configuration: ServerConfiguration) -> [String] {
        [configuration.device.authority, configuration.device.authorityKey, configuration.tls.authority]
            .compactMap { $0 }
    }

    private static func read(_ configuration: ServerConfiguration) -> Result<Terms, ServerError> {
        do throws(ServerError) {
            let (host, port) = try configuration.devicePlace()
            return .success(
                Terms(
                    authority: try DeviceCertificate.Authority(try DeviceAuthority.load(configuration)), host: host,
                    port: port, webAddress: configuration.toldWebAddress,
                    serverAuthority: try configuration.tls.authority.map { path throws(ServerError) in
                        try TextFile.read(path)
                    }))
        } catch {
            return .failure(error)
        }
    }
}
