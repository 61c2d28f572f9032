import Foundation
import ProgramTestKit
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

    private func make(_ certificate: String, _ key: String) throws {
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
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
