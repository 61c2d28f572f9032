import Foundation
import NIOSSL
import ProgramTestKit
import SecureLink
import ServerIdentity
import Testing
import TrackModel

@Suite struct ServerIdentityTests {
    private let directory: TemporaryDirectory
    private let files: ServerIdentity.Files

    init() throws {
        directory = try TemporaryDirectory()
        files = ServerIdentity.Files(certificateChain: directory.file("chain.pem"), key: directory.file("key.pem"))
    }

    private func identity(_ files: ServerIdentity.Files) throws(ServerIdentityError) -> ServerIdentity {
        try ServerIdentity(files: files, minimumTLS: .v13, applicationProtocols: ["saker/1"])
    }

    private func make(_ certificate: String, _ key: String, name: String = "localhost") throws {
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=\(name)", "-keyout", key, "-out", certificate,
        ]
        let run = try Program.run("/usr/bin/openssl", arguments)
        try #require(run.status == 0, "\(run)")
    }

    private func detail(_ files: ServerIdentity.Files) -> String? {
        do throws(ServerIdentityError) {
            _ = try identity(files)
            return nil
        } catch {
            return error.detail
        }
    }

    @Test func eachFileThatCannotBeUsedIsNamed() throws {
        #expect(detail(files)?.contains("chain.pem holds no readable certificate") == true)
        try make(files.certificateChain, files.key)
        #expect(detail(files) == nil)
        var other = files
        other.clientAuthorities = directory.file("clients.pem")
        #expect(detail(other)?.contains("clients.pem holds no readable certificate") == true)
        other = files
        other.key = directory.file("other.pem")
        #expect(detail(other)?.contains("other.pem holds no readable private key") == true)
        try make(directory.file("second.pem"), other.key)
        #expect(detail(other)?.contains("other.pem does not belong to the certificate in") == true)
    }

    /// Nobody ever writes into the pipe; a program that opens it waits for ever. What another user puts there is no file of ours.
    @Test(.timeLimit(.minutes(1)), arguments: ["chain.pem", "key.pem", "ca.pem"])
    func aPipeInThePlaceOfAFileIsToldAtOnce(name: String) throws {
        try make(files.certificateChain, files.key)
        try FileManager.default.copyItem(atPath: files.certificateChain, toPath: directory.file("ca.pem"))
        var all = files
        all.deviceAuthorities = directory.file("ca.pem")
        #expect(detail(all) == nil)
        try FileManager.default.removeItem(atPath: directory.file(name))
        mkfifo(directory.file(name), 0o600)
        let found = try #require(detail(all))
        #expect(found.contains("/\(name) ") && found.contains("no regular file") && found.contains("put"), "\(found)")
        try FileManager.default.removeItem(atPath: directory.file(name))
        symlink("/dev/zero", directory.file(name))
        #expect(detail(all)?.contains("no regular file") == true)
    }

    /// A bundle of authorities, as a company has one, would make a handshake longer than clients take.
    @Test func onlyTheAuthorityThatSignedIsShown() throws {
        let (authority, key) = (directory.file("ca.pem"), directory.file("ca-key.pem"))
        try make(authority, key, name: "the authority")
        try make(directory.file("other.pem"), directory.file("other-key.pem"), name: "another authority")
        // Of the same name, and with another key.
        try make(directory.file("same.pem"), directory.file("same-key.pem"), name: "the authority")
        let request = directory.file("request.pem")
        for arguments in [
            [
                "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                "/CN=localhost", "-keyout", files.key, "-out", request,
            ],
            [
                "x509", "-req", "-in", request, "-CA", authority, "-CAkey", key, "-CAcreateserial", "-days", "2",
                "-out",
                files.certificateChain,
            ],
        ] {
            let run = try Program.run("/usr/bin/openssl", arguments)
            try #require(run.status == 0, "\(run)")
        }
        var shown = files
        shown.shownAuthorities = directory.file("bundle.pem")
        func bundle(_ names: String...) throws -> [[UInt8]] {
            let texts = try names.map { try String(contentsOfFile: directory.file($0), encoding: .utf8) }
            try texts.joined().write(toFile: directory.file("bundle.pem"), atomically: true, encoding: .utf8)
            return try identity(shown).chain.encoded
        }
        // Another library reads what is shown.
        let leaf = try #require(try NIOSSLCertificate.fromPEMFile(files.certificateChain).first).toDERBytes()
        let signer = try #require(try NIOSSLCertificate.fromPEMFile(authority).first).toDERBytes()
        #expect(try bundle("other.pem", "same.pem", "ca.pem", "other.pem") == [leaf, signer])
        #expect(try bundle("other.pem", "same.pem") == [leaf])
        // One that is in the chain already is not shown twice.
        let texts = try [files.certificateChain, authority].map { try String(contentsOfFile: $0, encoding: .utf8) }
        try texts.joined().write(toFile: files.certificateChain, atomically: true, encoding: .utf8)
        #expect(try bundle("other.pem", "ca.pem") == [leaf, signer])
    }

    @Test func aRefusedReloadKeepsTheFormerContext() throws {
        try make(files.certificateChain, files.key)
        let identity = try identity(files)
        let first = identity.context
        try make(files.certificateChain, directory.file("unused.pem"))
        #expect(throws: ServerIdentityError.self) { try identity.reload() }
        #expect(identity.context === first)
        try make(files.certificateChain, files.key)
        try identity.reload()
        #expect(identity.context !== first)
    }
}
