import NIOCore
import NIOEmbedded
import NIOSSL
import Testing
import TrackModel

@testable import SecureLink

/// The server's side of TLS, against clients of another library.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ServerTests {
    private let workshop: Workshop
    private let identity: Workshop.Issued

    init() throws {
        workshop = try Workshop()
        identity = try workshop.issue("good")
    }

    private func context(
        _ protocols: [String] = ["saker/1"], minimum: MinimumTLS = .v13,
        clients: (TLSCertificates) -> TLSServerContext.Clients = { _ in .anybody }
    ) throws -> TLSServerContext {
        let authority = try TLSCertificates(pem: Array(Command.text(of: workshop.authority.certificate).utf8))
        return try TLSServerContext(
            TLSServerContext.Options(
                chain: try TLSCertificates(pem: Array(Command.text(of: identity.certificate).utf8)),
                key: try TLSPrivateKey(pem: Array(Command.text(of: identity.key).utf8)), minimumVersion: minimum,
                applicationProtocols: protocols, clients: clients(authority)))
    }

    private func configuration(
        _ certificate: Workshop.Issued? = nil, protocols: [String] = ["saker/1"]
    ) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(workshop.authority.certificate)
        configuration.applicationProtocols = protocols
        if let certificate {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate.certificate)
                .map { .certificate($0) }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: certificate.key, format: .pem))
        }
        return configuration
    }

    @Test(arguments: [1, 2, 5, 100, Int.max])
    func theHandshakeAndRecordsMayArriveInAnyPieces(piece: Int) throws {
        let link = try ServedChannels(context(), configuration())
        try link.pump(piece: piece)
        #expect(link.seen.events == ["active", "handshake saker/1"])
        try link.client.writeOutbound(ByteBuffer(string: "up"))
        try link.server.writeOutbound(ByteBuffer(string: "down"))
        try link.pump(piece: piece)
        #expect(link.seen.bytes == Array("up".utf8))
        #expect(try link.clientReceived() == Array("down".utf8))
        link.finish()
    }

    @Test(arguments: [
        (["saker/1"], ["saker/1"], "saker/1"), (["saker/1", "http/1.1"], ["http/1.1", "saker/1"], "saker/1"),
        (["saker/1"], ["h2", "http/1.1"], "-"), (["saker/1"], [], "-"), ([], ["saker/1"], "-"),
        (["er/1"], ["saker/1"], "-"), (["saker/1"], ["saker/10", "saker/"], "-"),
    ])
    func theServersFirstProtocolThatTheClientKnowsIsAgreed(ours: [String], theirs: [String], agreed: String) throws {
        let link = try ServedChannels(context(ours), configuration(protocols: theirs))
        try link.pump()
        #expect(link.seen.events == ["active", "handshake \(agreed)"])
        link.finish()
    }

    @Test func aMegabyteGoesEachWayInFullRecords() throws {
        let link = try ServedChannels(context(), configuration())
        try link.pump()
        try link.client.writeOutbound(ByteBuffer(repeating: 1, count: 1_000_000))
        try link.server.writeOutbound(ByteBuffer(repeating: 2, count: 1_000_000))
        try link.pump()
        #expect(link.seen.bytes.count == 1_000_000 && link.seen.largestRead <= 65_536)
        #expect(try link.clientReceived().count == 1_000_000)
        #expect(link.session.transport.inbound.capacity == 0 && link.session.transport.outbound.capacity == 0)
        link.finish()
    }

    /// A client that was refused is told why, whatever it has sent meanwhile: a socket that is closed with bytes unread resets the connection,
    /// and takes the reason along.
    @Test func whoIsRefusedMayReadTheReason() throws {
        let link = try ServedChannels(context(clients: { .certifiedOnly(by: $0) }), configuration())
        try? link.pump()
        #expect(link.seen.events == ["active", "error"])
        let more = ByteBuffer(repeating: 1, count: 100_000)
        for _ in 0..<20 { try link.server.writeInbound(more) }
        #expect(link.server.isActive && link.seen.bytes.isEmpty)
        #expect(link.session.transport.inbound.capacity == 0)
        // Its own end is the end, and one that never ends is left.
        link.waitForGoodbye()
        #expect(link.seen.events == ["active", "error", "inactive"])
        link.finish()
        let leaving = try ServedChannels(context(clients: { .certifiedOnly(by: $0) }), configuration())
        try? leaving.pump()
        leaving.server.pipeline.fireChannelInactive()
        #expect(leaving.seen.events == ["active", "error", "inactive"])
        leaving.finish()
    }

    // MARK: Certificates of clients

    private func shown(
        by certificate: Workshop.Issued?, _ clients: @escaping (TLSCertificates) -> TLSServerContext.Clients
    ) throws -> (events: [String], certificate: TLSClientCertificate?, errors: [SecureLinkError]) {
        let link = try ServedChannels(context(clients: clients), configuration(certificate))
        defer { link.finish() }
        try? link.pump()
        link.waitForGoodbye()
        return (link.seen.events, SecureLink.clientCertificate(on: link.server), link.seen.errors)
    }

    @Test func aCertificateOfTheAuthorityIsTold() throws {
        let van = try workshop.issue(
            "van", names: "URI:urn:uuid:00000000-0000-0000-0000-000000000001,DNS:van,URI:saker:two")
        for clients: (TLSCertificates) -> TLSServerContext.Clients in [
            { .certified(by: $0) }, { .certifiedOnly(by: $0) },
        ] {
            let (events, certificate, _) = try shown(by: van, clients)
            #expect(events == ["active", "handshake saker/1"])
            #expect(certificate?.uris == ["urn:uuid:00000000-0000-0000-0000-000000000001", "saker:two"])
            // The other library encodes the same key.
            let other = try #require(try NIOSSLCertificate.fromPEMFile(van.certificate).first)
            #expect(try certificate?.key == other.extractPublicKey().toSPKIBytes())
        }
    }

    @Test func whoHasNoCertificateGetsInWhereNoneIsNeeded() throws {
        let (events, certificate, _) = try shown(by: nil) { .certified(by: $0) }
        #expect(events == ["active", "handshake saker/1"] && certificate == nil)
    }

    @Test func whoMustHaveACertificateIsRefusedWithoutOne() throws {
        let (events, certificate, errors) = try shown(by: nil) { .certifiedOnly(by: $0) }
        #expect(events == ["active", "error", "inactive"] && certificate == nil)
        #expect(errors == [SecureLinkError(.clientCertificateRefused, "")])
    }

    @Test func whoIsAskedForNoneIsNobody() throws {
        let (events, certificate, _) = try shown(by: workshop.issue("van")) { _ in .anybody }
        #expect(events == ["active", "handshake saker/1"] && certificate == nil)
    }

    @Test func aCertificateThatIsNotValidIsRefused() throws {
        let stranger = try Workshop()
        for (name, certificate) in [
            ("another authority's", try stranger.issue("van")),
            ("ended", try workshop.issue("old", from: "20200101000000Z", to: "20200102000000Z")),
            ("not begun", try workshop.issue("early", from: "20970101000000Z")),
            ("signed by a leaf", try workshop.issue("leaf", by: workshop.issue("signer"))),
        ] {
            for clients: (TLSCertificates) -> TLSServerContext.Clients in [
                { .certified(by: $0) }, { .certifiedOnly(by: $0) },
            ] {
                let (events, found, errors) = try shown(by: certificate, clients)
                #expect(events == ["active", "error", "inactive"], "\(name)")
                #expect(errors == [SecureLinkError(.clientCertificateRefused, "")] && found == nil, "\(name)")
            }
        }
    }

    /// The vehicle saves the bytes of both certificates when it comes back, and the server knows it all the same. A new context, as a
    /// reload makes one, knows nobody.
    @Test func aSessionIsResumedWithTheCertificateThatBeganIt() throws {
        let van = try workshop.issue("van", names: "URI:saker:van")
        let client = try TLSContext(
            TLSClientOptions(
                trust: .authorities(file: workshop.authority.certificate),
                clientCertificate: .init(chainFile: van.certificate, key: .file(van.key))))
        func visit(_ server: TLSServerContext) throws -> (isResumed: Bool, certificate: TLSClientCertificate?) {
            let promise = EmbeddedEventLoop().makePromise(of: TLSPeer.self)
            var peer: TLSPeer?
            promise.futureResult.assumeIsolated().whenSuccess { peer = $0 }
            let handler = OpenSSLHandler(
                session: try TLSSession(context: client, host: "localhost", verificationTime: nil),
                limits: SecureLink.Limits(), verified: promise)
            let link = try ServedChannels(server, handler, SecureLink.Limits())
            try link.pump()
            defer { link.finish() }
            #expect(link.seen.events == ["active", "handshake saker/1"])
            return (try #require(peer).resumed, SecureLink.clientCertificate(on: link.server))
        }
        let server = try context(clients: { .certified(by: $0) })
        let visits = try (0..<3).map { _ in try visit(server) }
        #expect(visits.map(\.isResumed) == [false, true, true])
        #expect(visits.allSatisfy { $0.certificate?.uris == ["saker:van"] && $0.certificate == visits[0].certificate })
        #expect(try !visit(context(clients: { .certified(by: $0) })).isResumed)
    }

    /// The authorities of clients are no part of what the server shows, also when one of them has signed its certificate.
    @Test func exactlyTheGivenChainIsShown() throws {
        let authority = try TLSCertificates(pem: Array(Command.text(of: workshop.authority.certificate).utf8))
        let leaf = try TLSCertificates(pem: Array(Command.text(of: identity.certificate).utf8))
        let key = try TLSPrivateKey(pem: Array(Command.text(of: identity.key).utf8))
        for chain in [leaf, leaf.appending(authority)] {
            let server = try TLSServerContext(
                TLSServerContext.Options(
                    chain: chain, key: key, minimumVersion: .v13, applicationProtocols: [],
                    clients: .certified(by: authority)))
            var shown: [[UInt8]] = []
            let client = try NIOSSLClientHandler(
                context: NIOSSLContext(configuration: configuration()), serverHostname: "localhost"
            ) { certificates, verdict in
                shown = certificates.compactMap { try? $0.toDERBytes() }
                verdict.succeed(.certificateVerified)
            }
            let link = try ServedChannels(server, client, SecureLink.Limits())
            try link.pump()
            let isAsGiven = shown == chain.encoded
            #expect(isAsGiven, "\(shown.count) certificates are shown of \(chain.count)")
            link.finish()
        }
    }

    // MARK: Faults

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}\u{5}hello", "saker", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
    ])
    func aClientWithoutTLSIsToldAndClosed(text: String) throws {
        let link = try ServedChannels(context(), configuration())
        _ = try? link.server.writeInbound(ByteBuffer(string: text + String(repeating: "x", count: 100)))
        link.waitForGoodbye()
        #expect(link.seen.events == ["active", "error", "inactive"], "\(link.seen.errors)")
        link.finish()
    }

    @Test func anOldVersionIsRefusedAndTheClientTold() throws {
        var old = try configuration()
        old.maximumTLSVersion = .tlsv12
        let refused = try ServedChannels(context(), old)
        try? refused.pump()
        refused.waitForGoodbye()
        #expect(refused.seen.events == ["active", "error", "inactive"])
        #expect(refused.seen.errors == [SecureLinkError(.protocolVersion, "")])
        refused.finish()
        let taken = try ServedChannels(context(minimum: .v12), old)
        try taken.pump()
        #expect(taken.seen.events == ["active", "handshake saker/1"])
        taken.finish()
    }

    /// What a scanner would ask: ciphers without authentication of the bytes, or without keys of their own for each connection.
    @Test(arguments: [
        (NIOTLSCipher.TLS_RSA_WITH_AES_128_GCM_SHA256, false), (.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, false),
        (.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, false), (.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, true),
        (.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, true),
    ])
    func onlyStrongCiphersAreTaken(cipher: NIOTLSCipher, isTaken: Bool) throws {
        var old = try configuration()
        old.maximumTLSVersion = .tlsv12
        old.cipherSuiteValues = [cipher]
        let link = try ServedChannels(context(minimum: .v12), old)
        try? link.pump()
        if !isTaken { link.waitForGoodbye() }
        #expect(link.seen.events == (isTaken ? ["active", "handshake saker/1"] : ["active", "error", "inactive"]))
        link.finish()
    }

    @Test func aHandshakeThatIsNotFinishedEndsInItsTime() throws {
        let link = try ServedChannels(
            context(), configuration(), limits: SecureLink.Limits(handshake: .seconds(5)))
        link.server.embeddedEventLoop.advanceTime(by: .seconds(4))
        #expect(link.seen.events == ["active"])
        link.server.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(link.seen.events == ["active", "error"])
        #expect(link.seen.errors == [SecureLinkError(.handshakeTimeout, "")])
        link.waitForGoodbye()
        #expect(link.seen.events == ["active", "error", "inactive"])
        link.finish()
    }

    /// Each byte of the client's first flight, and each of its last one, may be wrong.
    @Test func aFlightWithAWrongByteOpensNothing() throws {
        let whole = try ServedChannels(context(), configuration()).firstFlight()
        for place in stride(from: 0, to: whole.count, by: 7) {
            let link = try ServedChannels(context(), configuration())
            var bytes = whole
            bytes[place] ^= 0x55
            _ = try? link.server.writeInbound(ByteBuffer(bytes: bytes))
            // The answer to a flight of another connection opens nothing either.
            #expect(!link.seen.events.contains { $0.hasPrefix("handshake") }, "byte \(place)")
            link.finish()
        }
    }

    @Test func aGoodbyeIsToldAndAnswered() throws {
        let link = try ServedChannels(context(), configuration())
        try link.pump()
        link.client.close(promise: nil)
        try link.pump()
        #expect(link.seen.events == ["active", "handshake saker/1", "goodbye", "inactive"])
        link.finish()
    }

    @Test func aServersGoodbyeIsAnsweredBeforeTheEnd() throws {
        let link = try ServedChannels(context(), configuration())
        try link.pump()
        link.server.close(promise: nil)
        #expect(link.seen.events == ["active", "handshake saker/1"])
        try link.pump()
        #expect(link.seen.events == ["active", "handshake saker/1", "goodbye", "inactive"])
        link.finish()
    }

    @Test func anEndWithoutAGoodbyeIsAnError() throws {
        let link = try ServedChannels(context(), configuration())
        try link.pump()
        link.server.pipeline.fireChannelInactive()
        #expect(link.seen.events == ["active", "handshake saker/1", "error", "inactive"])
        link.finish()
    }

    @Test func aConnectionIsCutOffAtOnceInTheHandshakeToo() throws {
        let link = try ServedChannels(context(), configuration())
        SecureLink.cutOff(link.server)
        #expect(!link.server.isActive)
        link.finish()
    }

    // MARK: Certificates and keys

    @Test func whatIsNoCertificateOrKeyIsRefused() throws {
        for text in ["", "none", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            #expect(throws: SecureLinkError(.configuration, "")) { try TLSCertificates(pem: Array(text.utf8)) }
            #expect(throws: SecureLinkError(.configuration, "")) { try TLSPrivateKey(pem: Array(text.utf8)) }
        }
        // A damaged certificate behind a good one is not passed over.
        let good = Command.text(of: identity.certificate)
        let damaged = good + "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
        #expect(throws: SecureLinkError(.configuration, "")) { try TLSCertificates(pem: Array(damaged.utf8)) }
        #expect(try TLSCertificates(pem: Array((good + good).utf8)).count == 2)
        // A key with a password asks nobody.
        _ = try workshop.openssl(
            "pkcs8", "-topk8", "-in", identity.key, "-out", "\(workshop.directory)/locked.key", "-passout", "pass:x")
        let locked = Array(Command.text(of: "\(workshop.directory)/locked.key").utf8)
        #expect(throws: SecureLinkError(.configuration, "")) { try TLSPrivateKey(pem: locked) }
        let other = try workshop.issue("other")
        #expect(throws: SecureLinkError(.configuration, "")) {
            try TLSServerContext(
                TLSServerContext.Options(
                    chain: TLSCertificates(pem: Array(good.utf8)),
                    key: TLSPrivateKey(pem: Array(Command.text(of: other.key).utf8)), minimumVersion: .v13,
                    applicationProtocols: []))
        }
    }
}
