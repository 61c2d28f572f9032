import NIOCore
import NIOSSL
import Testing

@testable import SecureLink

/// 2020-07-01T00:00:00Z.
private let summer2020: Int64 = 1_593_561_600

@Suite(.timeLimit(.minutes(5))) struct VerificationTests {
    let workshop: Workshop
    var ours: TLSClientOptions { TLSClientOptions(trust: .authorities(file: workshop.authority.certificate)) }

    init() throws { workshop = try Workshop() }

    private func withServer(
        _ identity: Workshop.Issued, _ body: (TestServer) async throws -> Void
    ) async throws {
        let server = try await TestServer.tls(identity)
        try await body(server)
        try await server.stop()
    }

    @Test(arguments: ["localhost", "127.0.0.1", "LOCALHOST"])
    func aCertificateOfATrustedAuthorityForThatNameIsAccepted(host: String) async throws {
        try await withServer(workshop.issue("good")) { (server) async throws -> Void in
            let link = try await TestLink.connect(to: host, server, ours)
            #expect(try await link.exchange([1, 2, 3]) == [1, 2, 3])
            try await link.close()
        }
    }

    @Test func theListenerSeesActiveThenThePeerBeforeAnythingElse() async throws {
        try await withServer(workshop.issue("good")) { (server) async throws -> Void in
            let link = try await TestLink.connect(server, ours)
            var events = link.listener.events.makeAsyncIterator()
            #expect(await events.next() == .active)
            guard case .peer(let peer) = await events.next() else { Issue.record("no peer"); return }
            #expect(peer.protocolVersion == "TLSv1.3")
            #expect(peer.certificateExpires == 4_070_822_400)
            #expect(!peer.resumed)
            try await link.close()
            #expect(await events.next() == .inactive)
        }
    }

    @Test(arguments: [
        ("DNS:other.example", "localhost"), ("DNS:localhost", "127.0.0.1"), ("IP:127.0.0.2", "127.0.0.1"),
        ("DNS:127.0.0.1", "127.0.0.1"), ("DNS:*.localhost", "localhost"), ("", "localhost"),
    ])
    func aCertificateForAnotherNameIsRefused(names: String, host: String) async throws {
        // The common name is the right one, and must not count.
        try await withServer(workshop.issue("localhost", names: names)) { (server) async throws -> Void in
            let error = try await TestLink.failure(to: host, server, ours)
            #expect(error?.code == .certificateWrongName)
            #expect(error?.detail.contains("not for \(host)") == true)
        }
    }

    @Test func anAuthorityMayBeGivenByItsCertificateOrBesideTheSystems() async throws {
        let pem = Command.text(of: workshop.authority.certificate)
        let encoded = try #require(TLSCertificates(pem: Array(pem.utf8)).encoded.first)
        let stranger = try Workshop()
        for trust in [.authority(encoded), .systemRootsAnd(file: workshop.authority.certificate)]
            as [TLSClientOptions.Trust]
        {
            let options = TLSClientOptions(trust: trust)
            try await withServer(workshop.issue("good")) { (server) async throws -> Void in
                #expect(try await TestLink.failure(server, options) == nil)
            }
            try await withServer(stranger.issue("bad")) { (server) async throws -> Void in
                #expect(try await TestLink.failure(server, options)?.code == .certificateUntrusted)
            }
        }
        for trust in [.authority([]), .authority([0x30, 0]), .systemRootsAnd(file: workshop.directory + "/none")]
            as [TLSClientOptions.Trust]
        {
            #expect(throws: SecureLinkError(.configuration, "")) { try TLSContext(TLSClientOptions(trust: trust)) }
        }
    }

    @Test func anotherServerNameMayBeRequired() async throws {
        try await withServer(workshop.issue("elsewhere", names: "DNS:track.example")) { (server) async throws -> Void in
            var options = ours
            options.serverName = "track.example."
            #expect(try await TestLink.failure(to: "127.0.0.1", server, options) == nil)
            options.serverName = "other.example"
            #expect(try await TestLink.failure(to: "127.0.0.1", server, options)?.code == .certificateWrongName)
        }
    }

    @Test func datesAreJudgedAtTheTimeGiven() async throws {
        let short = try workshop.issue("short", from: "20200601000000Z", to: "20200801000000Z")
        try await withServer(short) { (server) async throws -> Void in
            #expect(try await TestLink.failure(server, ours, verificationTime: summer2020) == nil)
            let late = try await TestLink.failure(server, ours)
            #expect(late?.code == .certificateExpired)
            #expect(late?.detail.contains("2020-08-01T00:00:00Z") == true)
            let early = try await TestLink.failure(server, ours, verificationTime: summer2020 - 100 * 86_400)
            #expect(early?.code == .certificateNotYetValid)
        }
    }

    @Test func aCertificateOfTheFutureIsNotYetValid() async throws {
        try await withServer(workshop.issue("future", from: "20900101000000Z")) { (server) async throws -> Void in
            let error = try await TestLink.failure(server, ours)
            #expect(error?.code == .certificateNotYetValid)
            #expect(error?.detail.contains("2090-01-01T00:00:00Z") == true)
        }
    }

    @Test func anUnknownAuthorityAndASelfSignedCertificateAreRefused() async throws {
        let stranger = try Workshop()
        try await withServer(stranger.issue("good")) { (server) async throws -> Void in
            #expect(try await TestLink.failure(server, ours)?.code == .certificateUntrusted)
            #expect(try await TestLink.failure(server, TLSClientOptions())?.code == .certificateUntrusted)
        }
        try await withServer(stranger.authority) { (server) async throws -> Void in
            // It holds no name at all.
            #expect(try await TestLink.failure(server, ours)?.code == .foreignServer)
        }
    }

    @Test func severalAuthoritiesMayStandInOneFile() async throws {
        let other = try Workshop()
        let both = try workshop.write(
            Command.text(of: other.authority.certificate) + Command.text(of: workshop.authority.certificate),
            to: "both.pem")
        for identity in [try workshop.issue("good"), try other.issue("good")] {
            try await withServer(identity) { (server) async throws -> Void in
                let options = TLSClientOptions(trust: .authorities(file: both))
                #expect(try await TestLink.failure(server, options) == nil)
            }
        }
    }

    // MARK: - Pins

    private func pin(_ identity: Workshop.Issued) throws -> PublicKeyPin {
        // The pin as anyone would make it by hand.
        _ = try workshop.openssl(
            "x509", "-in", identity.certificate, "-pubkey", "-noout", "-out", "\(workshop.directory)/public.pem")
        _ = try workshop.openssl(
            "pkey", "-pubin", "-in", "\(workshop.directory)/public.pem", "-outform", "der", "-out",
            "\(workshop.directory)/public.der")
        _ = try workshop.openssl(
            "dgst", "-sha256", "-binary", "-out", "\(workshop.directory)/digest", "\(workshop.directory)/public.der")
        let base64 = try workshop.openssl("base64", "-A", "-in", "\(workshop.directory)/digest")
        return try PublicKeyPin(parsing: "sha256//\(base64)")
    }

    @Test func aPinnedKeyIsEnoughByItself() async throws {
        let stranger = try Workshop()
        let identity = try stranger.issue("good")
        let options = TLSClientOptions(trust: .pinnedKeys, pins: [try pin(identity)])
        try await withServer(identity) { (server) async throws -> Void in
            let link = try await TestLink.connect(server, options)
            var shown: PublicKeyPin?
            #expect(try await link.exchangeNotingPeer([7]) { shown = $0.pin } == [7])
            #expect(shown == options.pins.first)
            try await link.close()
        }
    }

    @Test func aPinnedKeyStillNeedsTheRightNameAndTime() async throws {
        let identity = try workshop.issue("good", names: "DNS:other.example", to: "20200801000000Z")
        let options = TLSClientOptions(
            trust: .pinnedKeys, pins: [try pin(identity)], serverName: "other.example")
        try await withServer(identity) { (server) async throws -> Void in
            #expect(try await TestLink.failure(server, options)?.code == .certificateExpired)
            #expect(try await TestLink.failure(server, options, verificationTime: summer2020) == nil)
            var wrong = options
            wrong.serverName = nil
            let error = try await TestLink.failure(server, wrong, verificationTime: summer2020)
            #expect(error?.code == .certificateWrongName)
        }
    }

    @Test func anotherKeyThanThePinnedIsRefusedWhoeverSignedIt() async throws {
        let pinned = try pin(workshop.issue("first"))
        let served = try workshop.issue("second")
        try await withServer(served) { (server) async throws -> Void in
            let shown = try pin(served).description
            for trust in [TLSClientOptions.Trust.pinnedKeys, ours.trust] {
                let error = try await TestLink.failure(server, TLSClientOptions(trust: trust, pins: [pinned]))
                #expect(error?.code == .pinMismatch)
                #expect(error?.detail.contains(shown) == true)
            }
            let either = TLSClientOptions(trust: ours.trust, pins: [pinned, try pin(served)])
            #expect(try await TestLink.failure(server, either) == nil)
        }
    }

    @Test func aPinDoesNotReplaceTheChainThatIsAlsoRequired() async throws {
        let stranger = try Workshop()
        let identity = try stranger.issue("good")
        try await withServer(identity) { (server) async throws -> Void in
            let options = TLSClientOptions(trust: ours.trust, pins: [try pin(identity)])
            #expect(try await TestLink.failure(server, options)?.code == .certificateUntrusted)
        }
    }

    // MARK: - A pinned key in the chain

    @Test func aPinnedKeyOfTheAuthorityOrTheServerIsEnoughWhenTheServerShowsIt() async throws {
        let stranger = try Workshop()
        let identity = try stranger.issue("good")
        let both = try stranger.write(
            Command.text(of: identity.certificate) + Command.text(of: stranger.authority.certificate), to: "both.pem")
        let chain = Workshop.Issued(certificate: both, key: identity.key)
        for pinned in [stranger.authority, identity] {
            let options = TLSClientOptions(trust: .pinnedKeys, pins: [try pin(pinned)])
            try await withServer(chain) { (server) async throws -> Void in
                #expect(try await TestLink.failure(server, options) == nil)
                // The name and the time count as always.
                #expect(try await TestLink.failure(to: "127.0.0.1", server, options) == nil)
                var wrong = options
                wrong.serverName = "other.example"
                #expect(try await TestLink.failure(server, wrong)?.code == .certificateWrongName)
                #expect(
                    try await TestLink.failure(server, options, verificationTime: 0)?.code == .certificateNotYetValid)
            }
        }
    }

    @Test func aPinnedAuthorityThatOnlyStandsInTheChainProvesNothing() async throws {
        let stranger = try Workshop()
        // Another authority's server shows the pinned certificate, which everybody can copy.
        let identity = try stranger.issue("good")
        let copied = try stranger.write(
            Command.text(of: identity.certificate) + Command.text(of: workshop.authority.certificate), to: "both.pem")
        let options = TLSClientOptions(trust: .pinnedKeys, pins: [try pin(workshop.authority)])
        try await withServer(.init(certificate: copied, key: identity.key)) { (server) async throws -> Void in
            #expect(try await TestLink.failure(server, options)?.code == .certificateUntrusted)
        }
        try await withServer(identity) { (server) async throws -> Void in
            #expect(try await TestLink.failure(server, options)?.code == .pinMismatch)
        }
    }

    @Test func aServerWithoutApplicationProtocolIsTakenOnlyWhereNoneIsNeeded() async throws {
        let identity = try workshop.issue("good")
        let server = try await TestServer.tls(identity) { $0.applicationProtocols = [] }
        #expect(try await TestLink.failure(server, ours)?.code == .alpnMismatch)
        var options = ours
        options.requiresApplicationProtocol = false
        #expect(try await TestLink.failure(server, options) == nil)
        try await server.stop()
    }

    // MARK: - Resumption

    @Test func aReconnectResumesTheSessionOfTheSameServerOnly() async throws {
        try await withServer(workshop.issue("good")) { (server) async throws -> Void in
            let context = try TLSContext(ours)
            var resumed: [Bool] = []
            for host in ["localhost", "localhost", "127.0.0.1", "127.0.0.1"] {
                let link = try await TestLink.connect(to: host, port: server.port, context)
                // The tickets come with the first bytes.
                #expect(try await link.exchangeNotingPeer([1]) { resumed.append($0.resumed) } == [1])
                try await link.close()
            }
            #expect(resumed == [false, true, false, true])
        }
    }
}

extension TestLink {
    /// `exchange`, telling about the peer on the way.
    func exchangeNotingPeer(_ bytes: [UInt8], _ note: (TLSPeer) -> Void) async throws -> [UInt8] {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        var answer: [UInt8] = []
        for await event in listener.events {
            if case .peer(let peer) = event { note(peer) }
            if case .bytes(let buffer) = event { answer += buffer.readableBytesView }
            if answer.count >= bytes.count { break }
        }
        return answer
    }
}
