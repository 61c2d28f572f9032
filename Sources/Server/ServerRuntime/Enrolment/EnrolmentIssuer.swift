import ConfigurationFile
import FoundationEssentials
import Glibc
import Synchronization
import TrackModel
import TrackStore
import X509

/// What claims are answered with: the authority that signs, and where devices find this server. Read from files, and again
/// after they have changed.
final class EnrolmentIssuer: Sendable {
    struct Issuance: Sendable {
        var authority: DeviceCertificate.Authority
        var host: String
        var port: Int
        var webAddress: String?
        /// The server's own authority in PEM; nil: devices trust those of their systems.
        var serverAuthority: String?
    }

    private let configuration: ServerConfiguration
    private let state: Mutex<Result<Issuance, ServerError>>

    init(_ configuration: ServerConfiguration) {
        self.configuration = configuration
        state = Mutex(Self.read(configuration))
    }

    /// Throws why nothing can be issued, and what to do.
    var issuance: Issuance {
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

    private static func read(_ configuration: ServerConfiguration) -> Result<Issuance, ServerError> {
        do throws(ServerError) {
            let (host, port) = try configuration.devicePlace()
            return .success(
                Issuance(
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

/// Reads requests for certificates and signs certificates of devices, on no event loop and one at a time: whatever comes in
/// takes at most one core.
actor DeviceSigner {
    /// Requests that wait for their turn; more are told to come again.
    nonisolated let mostWaiting: Atomic<Int>

    private let waiting = Atomic<Int>(0)

    init(mostWaiting: Int = 64) { self.mostWaiting = Atomic(mostWaiting) }

    /// Checks the signature of a request. Nil: too many wait.
    nonisolated func read(_ pem: String) async -> Result<DeviceCertificate.Request, EnrolmentRefusal>? {
        await turn { await self.checked(pem) }
    }

    /// Signs. Nil: too many wait.
    nonisolated func issue(
        _ request: DeviceCertificate.Request, to device: DeviceID, until end: Timestamp,
        signedBy authority: DeviceCertificate.Authority, at now: Timestamp
    ) async -> Result<String, ServerError>? {
        await turn { await self.signed(request, device, end, authority, now) }
    }

    private nonisolated func turn<Value: Sendable>(_ work: @Sendable () async -> Value) async -> Value? {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= mostWaiting.load(ordering: .relaxed) else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        defer { waiting.wrappingSubtract(1, ordering: .relaxed) }
        return await work()
    }

    private func checked(_ pem: String) -> Result<DeviceCertificate.Request, EnrolmentRefusal> {
        do throws(EnrolmentRefusal) {
            return .success(try DeviceCertificate.check(pem))
        } catch {
            return .failure(error)
        }
    }

    private func signed(
        _ request: DeviceCertificate.Request, _ device: DeviceID, _ end: Timestamp,
        _ authority: DeviceCertificate.Authority, _ now: Timestamp
    ) -> Result<String, ServerError> {
        do throws(ServerError) {
            return .success(try DeviceCertificate.issue(request, to: device, until: end, signedBy: authority, at: now))
        } catch {
            return .failure(error)
        }
    }
}
