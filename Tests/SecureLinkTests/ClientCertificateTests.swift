import NIOCore
import NIOSSL
import Testing
import TrackModel

@testable import SecureLink

@Suite(.timeLimit(.minutes(5))) struct ClientCertificateTests {
    let workshop: Workshop

    init() throws { workshop = try Workshop() }

    /// A server that demands a certificate of the workshop's authority.
    private func demandingServer(maximum: TLSVersion? = nil) async throws -> TestServer {
        try await TestServer.tls(workshop.issue("server")) { configuration in
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .file(workshop.authority.certificate)
            configuration.maximumTLSVersion = maximum
        }
    }

    private func options(
        _ identity: Workshop.Issued?, key: TLSClientOptions.PrivateKey? = nil
    ) -> TLSClientOptions {
        TLSClientOptions(
            trust: .authorities(file: workshop.authority.certificate),
            clientCertificate: identity.map { .init(chainFile: $0.certificate, key: key ?? .file($0.key)) })
    }

    @Test func aDemandedCertificateIsShown() async throws {
        let server = try await demandingServer()
        let identity = try workshop.issue("box")
        for key in [TLSClientOptions.PrivateKey.file(identity.key), .store(uri: "file:\(identity.key)")] {
            let link = try await TestLink.connect(server, options(identity, key: key))
            #expect(try await link.exchange([9]) == [9])
            try await link.close()
        }
        try await server.stop()
    }

    /// A certificate and its key are never replaced at one moment.
    @Test func theCertificateBesideTheFormerOneIsUsedWithItsKey() throws {
        let (old, new, other) = (try workshop.issue("old"), try workshop.issue("new"), try workshop.issue("other"))
        func use(next: String?, key: TLSClientOptions.PrivateKey) -> SecureLinkError? {
            var options = options(old)
            options.clientCertificate = .init(chainFile: old.certificate, nextChainFile: next, key: key)
            do throws(SecureLinkError) {
                _ = try TLSContext(options)
                return nil
            } catch {
                return error
            }
        }
        for key in [new.key, "file:" + new.key].map({ TLSClientOptions.PrivateKey(parsing: $0) }) {
            #expect(use(next: new.certificate, key: key) == nil)
            for next in [nil, other.certificate, "/nowhere/next.pem", new.key] {
                #expect(use(next: next, key: key)?.code == .configuration)
            }
        }
        // The one in use comes first.
        for next in [nil, new.certificate, other.key, "/nowhere/next.pem"] {
            #expect(use(next: next, key: .file(old.key)) == nil)
        }
        #expect(use(next: new.certificate, key: .file("/nowhere/key.pem"))?.code == .configuration)
    }

    @Test func aCertificateNobodyAsksForDoesNoHarm() async throws {
        let server = try await TestServer.tls(workshop.issue("server"))
        let link = try await TestLink.connect(server, options(workshop.issue("box")))
        #expect(try await link.exchange([9]) == [9])
        try await link.close()
        try await server.stop()
    }

    @Test func withTLS13ARefusalFollowsTheHandshake() async throws {
        let server = try await demandingServer()
        let stranger = try Workshop()
        for identity in [nil, try stranger.issue("box")] {
            let link = try await TestLink.connect(server, options(identity))
            let errors = await link.listener.errorsUntilEnd()
            #expect(errors.map(\.code) == [.clientCertificateRefused])
            #expect(errors.first?.detail.contains("none is configured") == (identity == nil))
        }
        try await server.stop()
    }

    /// By the server's clock, which may be wrong.
    @Test(arguments: [("20200101000000Z", "20210101000000Z"), ("20970101000000Z", "20981231000000Z")])
    func aCertificateThatIsNotValidNowIsToldSo(from: String, to: String) async throws {
        let server = try await demandingServer()
        let link = try await TestLink.connect(server, options(workshop.issue("box", from: from, to: to)))
        #expect(await link.listener.errorsUntilEnd().map(\.code) == [.clientCertificateExpired])
        try await server.stop()
    }

    @Test func withTLS12ARefusalFailsTheHandshake() async throws {
        let server = try await demandingServer(maximum: .tlsv12)
        let stranger = try Workshop()
        for identity in [nil, try stranger.issue("box")] {
            var options = options(identity)
            options.minimumVersion = .v12
            #expect(try await TestLink.failure(server, options)?.code == .clientCertificateRefused)
        }
        try await server.stop()
    }
}
