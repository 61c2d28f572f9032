import ConfigurationFile
import Foundation
import ProgramTestKit
import Testing
import TrackModel

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

    private let made = Date(timeIntervalSince1970: 1_790_000_000)

    /// The files of a server, and what it is configured with. The key of the authority is kept elsewhere.
    private func files(
        in directory: TemporaryDirectory, signedBy authority: KeyPair
    ) throws -> (server: KeyPair, configuration: ServerConfiguration) {
        let server = try CertificateMaker.server(
            hosts: ["tracks.example.net", "192.0.2.7"], signedBy: authority, at: made)
        for (name, content) in [
            ("ca.pem", authority.certificate), ("server.pem", server.certificate), ("server-key.pem", server.key),
            ("server.toml", "[tls]\nca = \"ca.pem\"\ncertificate = \"server.pem\"\nkey = \"server-key.pem\"\n"),
        ] { try content.write(toFile: "\(directory.path)/\(name)", atomically: true, encoding: .utf8) }
        return (server, try ServerConfiguration.load(path: "\(directory.path)/server.toml"))
    }

    /// The server starts with what is there, and what `settle` leaves is the old pair or the new one.
    @Test(arguments: CertificateFiles.Step.allCases) func everyCutOfARenewalLeavesAServerThatStarts(
        step: CertificateFiles.Step
    ) async throws {
        let directory = try TemporaryDirectory()
        func text(_ name: String) throws -> String { try String(contentsOfFile: directory.file(name), encoding: .utf8) }
        let authority = try CertificateMaker.authority(named: "A", at: made)
        let (old, configuration) = try files(in: directory, signedBy: authority)
        let new = try CertificateMaker.server(hosts: ["a.example"], signedBy: authority, at: made)
        #expect(throws: ConfigurationError.self) {
            try configuration.tls.files.replace(certificate: new.certificate, key: new.key) {
                (done) throws(ConfigurationError) in
                if done == step { throw ConfigurationError(.unwritable, file: "", "the power is gone") }
            }
        }
        // Also one that may not write its files.
        #expect(await CertificateProbe.facts(configuration).problem == nil)
        let end = try CertificateMaker.details(of: new.certificate).end.formatted(.iso8601)
        #expect(try CertificateRenewal.settle(configuration) == (step == .key ? end : nil))
        let (certificate, key) = (try text("server.pem"), try text("server-key.pem"))
        #expect([old, new].contains { $0.certificate == certificate && $0.key == key })
        #expect((certificate == old.certificate) == (step == .next))
        #expect(await CertificateProbe.facts(configuration).problem == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 4)
        // A second renewal goes on from there.
        try authority.key.write(toFile: directory.file("ca-key.pem"), atomically: true, encoding: .utf8)
        _ = try CertificateRenewal.renew(configuration, hosts: [], authorityKey: nil)
        #expect(CertificateMaker.isPair(try text("server.pem"), try text("server-key.pem")))
    }

    /// A server that runs sees the new certificate before the new key, and removes what belongs to no key.
    @Test func anotherProcessThatSettlesMeanwhileBreaksNothing() async throws {
        let directory = try TemporaryDirectory()
        let authority = try CertificateMaker.authority(named: "A", at: made)
        let (_, configuration) = try files(in: directory, signedBy: authority)
        let new = try CertificateMaker.server(hosts: ["a.example"], signedBy: authority, at: made)
        try configuration.tls.files.replace(certificate: new.certificate, key: new.key) {
            (done) throws(ConfigurationError) in
            if done == .next { _ = try? CertificateRenewal.settle(configuration) }
        }
        #expect(try TextFile.read(configuration.tls.certificate) == new.certificate)
        #expect(try TextFile.read(configuration.tls.key) == new.key)
        #expect(!FileManager.default.fileExists(atPath: configuration.tls.files.next))
    }

    /// The certificate beside the one in use is what makes the cut harmless; a certificate of another key is not used.
    @Test func onlyTheKeysOwnCertificateIsUsed() async throws {
        let directory = try TemporaryDirectory()
        let authority = try CertificateMaker.authority(named: "A", at: made)
        let (old, configuration) = try files(in: directory, signedBy: authority)
        let new = try CertificateMaker.server(hosts: ["a.example"], signedBy: authority, at: made)
        try new.key.write(toFile: directory.file("server-key.pem"), atomically: true, encoding: .utf8)
        #expect(await CertificateProbe.facts(configuration).problem?.contains("does not belong") == true)
        let other = try CertificateMaker.server(hosts: ["b.example"], signedBy: authority, at: made)
        try other.certificate.write(toFile: configuration.tls.files.next, atomically: true, encoding: .utf8)
        #expect(await CertificateProbe.facts(configuration).problem?.contains("does not belong") == true)
        // Whatever it is, it is not removed: a person may need it.
        #expect(try CertificateRenewal.settle(configuration) == nil)
        #expect(FileManager.default.fileExists(atPath: configuration.tls.files.next))
        #expect(CertificateMaker.isPair(old.certificate, old.key) && !CertificateMaker.isPair(old.certificate, new.key))
    }

    @Test func anErrorOfTheKeysFileLeavesTheOldPair() throws {
        let directory = try TemporaryDirectory()
        let authority = try CertificateMaker.authority(named: "A", at: made)
        let (old, configuration) = try files(in: directory, signedBy: authority)
        let files = CertificateFiles(certificate: configuration.tls.certificate, key: directory.file("no/key.pem"))
        #expect(throws: ConfigurationError.self) { try files.replace(certificate: "new", key: "new") }
        #expect(try String(contentsOfFile: configuration.tls.certificate, encoding: .utf8) == old.certificate)
        #expect(!FileManager.default.fileExists(atPath: files.next))
    }

    /// `device authority` that was cut between the key and the certificate goes on with the key.
    @Test func anAuthorityThatWasCutIsCompleted() throws {
        let directory = try TemporaryDirectory()
        let (_, configuration) = try files(in: directory, signedBy: CertificateMaker.authority(named: "A", at: made))
        _ = try DeviceAuthority.add(to: configuration)
        let key = try String(contentsOfFile: directory.file("device-ca-key.pem"), encoding: .utf8)
        try FileManager.default.removeItem(atPath: directory.file("device-ca.pem"))
        _ = try DeviceAuthority.add(to: configuration)
        let certificate = try String(contentsOfFile: directory.file("device-ca.pem"), encoding: .utf8)
        #expect(try String(contentsOfFile: directory.file("device-ca-key.pem"), encoding: .utf8) == key)
        #expect(CertificateMaker.isPair(certificate, key))
        #expect(throws: ServerError.self) { try DeviceAuthority.add(to: configuration) }
        // What is no key of this command stays as it is.
        try FileManager.default.removeItem(atPath: directory.file("device-ca.pem"))
        try "mine".write(toFile: directory.file("device-ca-key.pem"), atomically: true, encoding: .utf8)
        let error = #expect(throws: ServerError.self) { try DeviceAuthority.add(to: configuration) }
        #expect(error?.detail.contains("move it away") == true, "\(error?.detail ?? "")")
    }

    /// `init` that was cut anywhere begins anew; one that had ended stays.
    @Test func everyCutOfAnInitIsBegunAnew() async throws {
        let whole = try TemporaryDirectory()
        _ = try await Initialization(directory: whole.path, name: "Fleet", hosts: ["127.0.0.1"]).run()
        #expect(!FileManager.default.fileExists(atPath: whole.file(Initialization.unfinished)))
        let names = try FileManager.default.contentsOfDirectory(atPath: whole.path).sorted()
        let made = names.filter { $0 != "server.toml" }
        #expect(made.contains("tracks.sqlite") && made.contains("server-key.pem"))
        for count in 0...made.count {
            let cut = try TemporaryDirectory()
            try names.joined(separator: "\n").write(
                toFile: cut.file(Initialization.unfinished), atomically: true, encoding: .utf8)
            for name in made.prefix(count) {
                try FileManager.default.copyItem(atPath: whole.file(name), toPath: cut.file(name))
            }
            let result = try await Initialization(directory: cut.path, name: "Fleet", hosts: ["127.0.0.1"]).run()
            #expect(result.service.rawValue == 1, "\(count) files")
            #expect(!FileManager.default.fileExists(atPath: cut.file(Initialization.unfinished)))
            _ = try ServerConfiguration.load(path: result.configurationPath)
        }
        // With its configuration a server may have run: nothing is removed.
        try "tracks.sqlite\n".write(
            toFile: whole.file(Initialization.unfinished), atomically: true, encoding: .utf8)
        await #expect(throws: ServerError.self) {
            try await Initialization(directory: whole.path, name: "Fleet", hosts: ["127.0.0.1"]).run()
        }
        #expect(FileManager.default.fileExists(atPath: whole.file("tracks.sqlite")))
        // A file of somebody else's is no part of an init that was cut.
        let other = try TemporaryDirectory()
        try "notes.txt\n../notes.txt\n".write(
            toFile: other.file(Initialization.unfinished), atomically: true, encoding: .utf8)
        try "mine".write(toFile: other.file("notes.txt"), atomically: true, encoding: .utf8)
        _ = try await Initialization(directory: other.path, name: "Fleet", hosts: ["127.0.0.1"]).run()
        #expect(try String(contentsOfFile: other.file("notes.txt"), encoding: .utf8) == "mine")
    }

    /// By a clock that is ten years ahead nothing is renewed; what such a clock has made is replaced when it is right again.
    @Test func aClockThatIsAheadMakesNoCertificateThatVehiclesRefuse() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/server.pem"
        let authority = try CertificateMaker.authority(named: "A", at: made)
        let (server, configuration) = try files(in: directory, signedBy: authority)
        try authority.key.write(toFile: "\(directory.path)/ca-key.pem", atomically: true, encoding: .utf8)
        let lines = RecordedLines()
        func round(afterDays days: Double, isKept: Bool) throws -> String {
            let date = made.addingTimeInterval(days * 86_400)
            let time = Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1000))
            CertificateRenewing(
                configuration: configuration,
                time: TrustedTime(
                    newest: Timestamp(milliseconds: Int64(made.timeIntervalSince1970) * 1000), clock: { time },
                    monotonic: { MonotonicTime(milliseconds: 0) }, isKept: { isKept }),
                logger: lines.logger
            ).round()
            CertificateExpiryCheck(certificateFile: path, logger: lines.logger).look(at: date)
            return try String(contentsOfFile: path, encoding: .utf8)
        }
        #expect(try round(afterDays: 3650, isKept: false) == server.certificate)
        #expect(try round(afterDays: 0.5, isKept: true) == server.certificate)
        #expect(lines.texts.filter { $0.contains("not valid yet") } == [])
        let wrong = try CertificateMaker.server(
            hosts: ["tracks.example.net"], signedBy: authority, at: made.addingTimeInterval(1000 * 86_400))
        try wrong.certificate.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try round(afterDays: 1.5, isKept: false) == wrong.certificate)
        #expect(lines.texts.filter { $0.contains("not valid yet") }.count == 1)
        let renewed = try round(afterDays: 1.5, isKept: true)
        let details = try CertificateMaker.details(of: renewed)
        #expect(details.begin == made.addingTimeInterval(0.5 * 86_400) && renewed != wrong.certificate)
    }

    /// It is for another key.
    @Test func aCertificateThatAPersonHasPutThereMeanwhileStays() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/server.pem"
        let authority = try CertificateMaker.authority(named: "A", at: made)
        let (_, configuration) = try files(in: directory, signedBy: authority)
        try authority.key.write(toFile: "\(directory.path)/ca-key.pem", atomically: true, encoding: .utf8)
        let late = made.addingTimeInterval(700 * 86_400)
        let other = try CertificateMaker.server(hosts: ["a.example"], signedBy: authority, at: late)
        let end = try CertificateRenewal.renewIfDue(configuration, at: late) {
            try? other.certificate.write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(end == nil)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == other.certificate)
    }

    @Test(arguments: [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], ["ed25519"]])
    func anAuthorityOfAnotherKindOfKeySigns(kind: [String]) async throws {
        let directory = try TemporaryDirectory()
        let (ca, key) = ("\(directory.path)/ca.pem", "\(directory.path)/ca-key.pem")
        let made = try await run(
            "openssl",
            [
                "req", "-new", "-x509", "-nodes", "-days", "900", "-subj", "/CN=Fleet", "-keyout", key, "-out", ca,
                "-addext", "keyUsage=critical,keyCertSign", "-newkey",
            ] + kind)
        try #require(made.status == 0, "\(made.errors)")
        let authority = KeyPair(
            certificate: try String(contentsOfFile: ca, encoding: .utf8),
            key: try String(contentsOfFile: key, encoding: .utf8))
        let server = try CertificateMaker.server(hosts: ["a.example"], signedBy: authority, at: Date())
        let path = "\(directory.path)/server.pem"
        try server.certificate.write(toFile: path, atomically: true, encoding: .utf8)
        let verified = try await run("openssl", ["verify", "-purpose", "sslserver", "-CAfile", ca, path])
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
    }

    @Test func theServerRenewsItsCertificateInTimeAndKeepsItsKey() throws {
        let directory = try TemporaryDirectory()
        func file(_ name: String) -> String { "\(directory.path)/\(name)" }
        func text(_ name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }
        let (authority, other) = (
            try CertificateMaker.authority(named: "A", at: made), try CertificateMaker.authority(named: "B", at: made)
        )
        let (server, configuration) = try files(in: directory, signedBy: authority)
        func look(after days: Double) throws -> String? {
            try CertificateRenewal.renewIfDue(configuration, at: made.addingTimeInterval(days * 86_400))
        }
        // The key of the authority is kept elsewhere.
        #expect(try look(after: 700) == nil)
        try authority.key.write(toFile: file("ca-key.pem"), atomically: true, encoding: .utf8)
        #expect(try look(after: 548) == nil)
        #expect(try text("server.pem") == server.certificate)
        let end = try #require(try look(after: 551))
        let renewed = try text("server.pem")
        #expect(renewed != server.certificate)
        #expect(try text("server-key.pem") == server.key)
        let (old, new) = (
            try CertificateMaker.served(server.certificate, authority: authority.certificate),
            try CertificateMaker.served(renewed, authority: authority.certificate)
        )
        #expect(new.isOfAuthority && new.publicKey == old.publicKey && new.hosts == old.hosts && new.end > old.end)
        #expect(end.hasPrefix(new.end.formatted(.iso8601)))
        #expect(try look(after: 552) == nil)
        // Near the end of the authority a new certificate would last no longer.
        #expect(try look(after: 3000) != nil)
        #expect(try look(after: 3640) == nil)
        // Whoever else has signed it renews it.
        try CertificateMaker.server(hosts: ["a.example"], signedBy: other, at: made).certificate
            .write(toFile: file("server.pem"), atomically: true, encoding: .utf8)
        #expect(try look(after: 800) == nil)
    }

    /// Beside a certificate of a company's authority may be the key of one that `init` made before.
    @Test func aKeyOfAnotherAuthorityReplacesNothing() throws {
        let directory = try TemporaryDirectory()
        let authority = try CertificateMaker.authority(named: "Company", at: made)
        let other = try CertificateMaker.authority(named: "Company", at: made)
        let (server, configuration) = try files(in: directory, signedBy: authority)
        try other.key.write(toFile: "\(directory.path)/ca-key.pem", atomically: true, encoding: .utf8)
        let late = made.addingTimeInterval(700 * 86_400)
        let error = #expect(throws: ServerError.self) {
            try CertificateRenewal.renewIfDue(configuration, at: late)
        }
        #expect(error?.detail.contains("does not belong to the authority's certificate") == true)
        #expect(throws: ServerError.self) {
            try CertificateRenewal.renew(configuration, hosts: ["a.example"], authorityKey: nil)
        }
        for (name, text) in [("server.pem", server.certificate), ("server-key.pem", server.key)] {
            #expect(try String(contentsOfFile: "\(directory.path)/\(name)", encoding: .utf8) == text)
        }
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
