import Glibc
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

@Suite(.timeLimit(.minutes(5))) struct DeviceKeyTests {
    let workshop: Workshop

    init() throws { workshop = try Workshop() }

    @Test func aKeyThatIsMadeIsWrittenOpenedAndAsksForACertificate() throws {
        let key = try DeviceKey.make()
        let file = try workshop.write(String(decoding: try key.pem(), as: UTF8.self), to: "device.key")
        #expect(Command.text(of: file).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let opened = try DeviceKey.open(.file(file))
        #expect(opened.publicKey != nil && opened.publicKey == key.publicKey)
        let other = try DeviceKey.make()
        #expect(other.publicKey != key.publicKey)

        let request = try workshop.write(try opened.certificateRequest(name: "货车 07"), to: "request.pem")
        let told = try workshop.openssl(
            "req", "-in", request, "-verify", "-noout", "-subject", "-nameopt", "utf8,-esc_msb", "-text")
        #expect(told.contains("verify OK") && told.contains("货车 07") && told.contains("prime256v1"), "\(told)")
        let digest = try workshop.openssl("req", "-in", request, "-noout", "-pubkey")
        #expect(digest == (try workshop.openssl("pkey", "-in", file, "-pubout")))
    }

    @Test(arguments: [("", "saker"), (String(repeating: "é", count: 80), String(repeating: "é", count: 64))])
    func aNameFitsIntoACertificate(name: String, shown: String) throws {
        let request = try workshop.write(try DeviceKey.make().certificateRequest(name: name), to: "request.pem")
        let told = try workshop.openssl("req", "-in", request, "-noout", "-subject", "-nameopt", "utf8,-esc_msb")
        #expect(told.contains(shown) && !told.contains(shown + "é"), "\(told)")
    }

    @Test(arguments: ["rsa:2048", "ec:P-384", "ed25519"])
    func aKeyOfAnotherKindSignsToo(kind: String) throws {
        let words = kind.split(separator: ":").map(String.init)
        let option = ["rsa": "rsa_keygen_bits:", "ec": "ec_paramgen_curve:"][words[0]]
        var arguments = ["genpkey", "-algorithm", words[0], "-out", "\(workshop.directory)/other.key"]
        if let option { arguments += ["-pkeyopt", option + words[1]] }
        try Command.run(["openssl"] + arguments, output: "\(workshop.directory)/output")
        let key = try DeviceKey.open(.file("\(workshop.directory)/other.key"))
        let request = try workshop.write(try key.certificateRequest(name: "van"), to: "request.pem")
        #expect(try workshop.openssl("req", "-in", request, "-verify", "-noout").contains("verify OK"))
    }

    @Test func whatIsNoKeyIsRefusedAndNamed() throws {
        let text = try workshop.write("no key", to: "text")
        for path in [text, workshop.directory + "/none", workshop.authority.certificate] {
            let error = #expect(throws: SecureLinkError.self) { _ = try DeviceKey.open(.file(path)) }
            #expect(error?.code == .configuration && error?.detail.contains(path) == true)
        }
        _ = try workshop.openssl(
            "pkey", "-in", workshop.authority.key, "-aes128", "-passout", "pass:secret", "-out",
            "\(workshop.directory)/encrypted.key")
        #expect(throws: SecureLinkError(.configuration, "")) {
            _ = try DeviceKey.open(.file("\(workshop.directory)/encrypted.key"))
        }
    }

    @Test func aTPMThatIsNotThereIsSaid() throws {
        let error = #expect(throws: SecureLinkError.self) { _ = try DeviceKey.makeInTPM() }
        #expect(
            error?.code == .configuration && error?.detail.contains("tpm2") == true
                || error?.detail.contains("TPM") == true)
    }

    @Test func aCertificateFileTellsItsTimesAndItsKey() throws {
        let leaf = try workshop.issue("leaf", from: "20200101000000Z", to: "20300101000000Z")
        let chain = try workshop.write(
            Command.text(of: leaf.certificate) + Command.text(of: workshop.authority.certificate), to: "chain.pem")
        let file = try CertificateFile(path: chain)
        #expect(file.leaf == .init(from: 1_577_836_800, until: 1_893_456_000))
        #expect(file.validity == file.leaf)
        #expect(file.key == (try DeviceKey.open(.file(leaf.key))).publicKey)
        for text in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let path = try workshop.write(text, to: "broken.pem")
            #expect(throws: SecureLinkError(.configuration, "")) { try CertificateFile(path: path) }
        }
        let large = try workshop.write(String(repeating: "a", count: 300_000), to: "large.pem")
        #expect(throws: SecureLinkError(.configuration, "")) { try CertificateFile(path: large) }
        #expect(throws: SecureLinkError(.configuration, "")) { try CertificateFile(path: "/dev/zero") }
    }
}
