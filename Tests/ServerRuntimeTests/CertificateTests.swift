import ConfigurationFile
import Foundation
import ProgramTestKit
import Testing

@testable import ServerRuntime

@Suite("Certificates")
struct CertificateTests {
    @Test func opensslAcceptsWhatIsMade() async throws {
        let directory = try TemporaryDirectory()
        let authority = try CertificateMaker.authority(named: "Fleet", at: Date())
        let server = try CertificateMaker.server(
            hosts: ["tracks.example.net", "192.0.2.7", "2001:db8::7"], signedBy: authority, at: Date())
        for (name, text) in [("ca", authority.certificate), ("cert", server.certificate), ("key", server.key)] {
            try text.write(toFile: "\(directory.path)/\(name).pem", atomically: true, encoding: .utf8)
        }
        let (ca, certificate) = ("\(directory.path)/ca.pem", "\(directory.path)/cert.pem")
        for host in [
            ["-verify_hostname", "tracks.example.net"], ["-verify_ip", "192.0.2.7"], ["-verify_ip", "2001:db8::7"],
        ] {
            let result = try await run(
                "openssl", ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", ca] + host + [certificate])
            #expect(result.status == 0, "\(result.output)\(result.errors)")
        }
        let wrong = try await run(
            "openssl", ["verify", "-CAfile", ca, "-verify_hostname", "other.example", certificate])
        #expect(wrong.status != 0)
        let key = try await run("openssl", ["pkey", "-in", "\(directory.path)/key.pem", "-check", "-noout"])
        #expect(key.status == 0)
        let text = try await run("openssl", ["x509", "-in", ca, "-noout", "-text"]).output
        #expect(text.contains("CA:TRUE, pathlen:0"))
        #expect(try CertificateMaker.der(of: authority.certificate).count < 700)
    }

    @Test func namesAndEndAreReadBack() throws {
        let authority = try CertificateMaker.authority(named: "Fleet", at: Date())
        let now = Date()
        let server = try CertificateMaker.server(hosts: ["a.example", "::1", "10.0.0.1"], signedBy: authority, at: now)
        let details = try CertificateMaker.details(of: server.certificate)
        #expect(details.hosts == ["a.example", "::1", "10.0.0.1"])
        #expect(abs(details.end.timeIntervalSince(now) - 825 * 86_400) < 2)
    }

    @Test(arguments: [
        "", "a b", "http://a", "a:443", "-a.example", "a..b", "a.example/", String(repeating: "a", count: 64), "*",
    ])
    func namesThatNoCertificateCanHoldAreRefused(host: String) throws {
        let authority = try CertificateMaker.authority(named: "Fleet", at: Date())
        #expect(throws: ServerError(.usage, "")) {
            try CertificateMaker.server(hosts: [host], signedBy: authority, at: Date())
        }
    }

    @Test func whatIsNoCertificateIsRefused() {
        #expect(throws: ServerError(.certificate, "")) { try CertificateMaker.details(of: "junk") }
        #expect(throws: ServerError(.certificate, "")) { try CertificateMaker.der(of: "") }
    }
}
