internal import GNSSFeed
internal import NIOCore
internal import SecureLink

/// The kernel's clock.
final class KernelClock: SystemClockSource {
    func read() -> SystemClock { .read() }
}

/// Connections over TCP and TLS.
final class SecureConnector: LinkConnector {
    private var context: TLSContext

    /// Throws when a certificate or key cannot be used.
    init(_ server: AgentConfiguration.Server) throws(SecureLinkError) {
        context = try Self.context(server)
    }

    var warnings: [String] { context.warnings.map { "\($0)" } }

    func connect(
        to server: AgentConfiguration.Server, verificationTime: Int64?, on loop: any EventLoop,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        SecureLink.connect(
            to: server.host, port: server.port, on: loop, context: context, verificationTime: verificationTime,
            initializer: initializer)
    }

    func reload(_ server: AgentConfiguration.Server) throws -> [String] {
        context = try Self.context(server)
        return warnings
    }

    private static func context(_ server: AgentConfiguration.Server) throws(SecureLinkError) -> TLSContext {
        var options = TLSClientOptions()
        if let file = server.certificateAuthorityFile { options.trust = .authorities(file: file) }
        if let pin = server.pinnedKey {
            options.pins = [try PublicKeyPin(parsing: pin)]
            if server.certificateAuthorityFile == nil { options.trust = .pinnedKeys }
        }
        options.serverName = server.name
        options.minimumVersion = server.minimumTLS == .v13 ? .tls13 : .tls12
        if let chain = server.clientCertificateFile, let key = server.clientKey {
            options.clientCertificate = .init(chainFile: chain, key: .init(parsing: key))
        }
        return try TLSContext(options)
    }
}

/// gpsd through libgps, on a thread of the feed's own.
final class GNSSFeedSource: FeedSource {
    func open(
        _ gnss: AgentConfiguration.GNSS, deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) -> any OpenFeed {
        let feed = try GNSSFeed(
            configuration: FeedConfiguration(host: gnss.host, port: UInt16(clamping: gnss.port), device: gnss.device),
            deliver: deliver)
        try feed.start()
        return feed
    }
}

extension GNSSFeed: OpenFeed {}
