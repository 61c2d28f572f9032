import Foundation
import ProgramTestKit
import SecureLink

/// An authority and a certificate for `localhost`, made with the openssl command.
struct TestAuthority: Sendable {
    private let directory: String
    let certificate: String
    /// The server's own certificate with the authority behind it, and its key.
    let chain: String
    let key: String

    init(in directory: String) throws {
        self.directory = directory
        (certificate, chain, key) = (directory + "/ca.pem", directory + "/chain.pem", directory + "/server.key")
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try Self.openssl(
            ["req", "-x509"] + curve + [
                "-subj", "/CN=Test Authority", "-days", "3650", "-keyout", directory + "/ca.key", "-out", certificate,
            ])
        try Self.openssl(
            ["req", "-new"] + curve + ["-subj", "/CN=server", "-keyout", key, "-out", directory + "/server.csr"])
        try sign(directory + "/server.csr", to: directory + "/server.pem", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        try (text(directory + "/server.pem") + text(certificate)).write(
            toFile: chain, atomically: true, encoding: .utf8)
    }

    var pin: PublicKeyPin { get throws { try CertificateFile(path: certificate).key } }

    func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// A certificate for a request in PEM, valid for so many days; fewer than 0: it has ended.
    func issue(_ request: String, days: Int = 90) throws -> String {
        let name = directory + "/\(UUID().uuidString)"
        try request.write(toFile: name + ".csr", atomically: true, encoding: .utf8)
        try sign(name + ".csr", to: name + ".pem", "subjectAltName=URI:saker:device:test", days: days)
        return try text(name + ".pem")
    }

    private func sign(_ request: String, to path: String, _ names: String, days: Int = 90) throws {
        let configuration = path + ".cnf"
        try """
        [ca]
        default_ca = ours
        [ours]
        database = \(path).index
        new_certs_dir = \(directory)
        rand_serial = yes
        default_md = sha256
        policy = any
        [any]
        commonName = supplied
        [leaf]
        \(names)
        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        try "".write(toFile: path + ".index", atomically: true, encoding: .utf8)
        // A certificate that has ended began a hundred days before.
        let now = Date()
        let end = now.addingTimeInterval(Double(days) * 86_400)
        let begin = days < 0 ? end.addingTimeInterval(-100 * 86_400) : now.addingTimeInterval(-60)
        try Self.openssl([
            "ca", "-batch", "-notext", "-config", configuration, "-extensions", "leaf", "-cert", certificate,
            "-keyfile",
            directory + "/ca.key", "-startdate", Self.time(begin), "-enddate", Self.time(end), "-in", request, "-out",
            path,
        ])
    }

    /// `20261123190000Z`
    private static func time(_ date: Date) -> String {
        date.formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted)).replacing("T", with: "")
    }

    private static func openssl(_ arguments: [String]) throws {
        let done = try Program.run("/usr/bin/openssl", arguments)
        try require(done.status == 0, done.all)
    }
}
