import Foundation
import ProgramTestKit

/// A certificate authority of the fleet's own, run with the openssl command.
struct Authority {
    private let directory: String
    let certificate: String
    private let key: String

    /// Files go into a directory that is there.
    init(named name: String, in parent: String, days: Int = 30) throws {
        directory = parent + "/" + name.replacingOccurrences(of: " ", with: "-")
        (certificate, key) = (directory + "/ca.pem", directory + "/ca.key")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Self.openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "\(days)",
            "-subj",
            "/CN=\(name)", "-keyout", key, "-out", certificate,
        ])
    }

    /// One that is there already; what it signs goes into the directory.
    init(certificate: String, key: String, directory: String) {
        (self.certificate, self.key, self.directory) = (certificate, key, directory)
    }

    /// The files of a server's certificate for names as OpenSSL writes them, `DNS:track.example`, and of its key.
    func serve(_ names: String) throws -> (certificate: String, key: String) {
        let (key, request, file) = (directory + "/server.key", directory + "/server.csr", directory + "/server.pem")
        try Self.openssl([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server",
            "-keyout", key, "-out", request,
        ])
        try "subjectAltName=\(names)\n".write(
            toFile: directory + "/names", atomically: true, encoding: .utf8)
        try Self.openssl([
            "x509", "-req", "-in", request, "-CA", certificate, "-CAkey", self.key, "-set_serial", "77", "-days", "30",
            "-extfile", directory + "/names", "-out", file,
        ])
        return (file, key)
    }

    /// A vehicle's certificate and key, as PEM.
    func issue(_ name: String) throws -> (certificate: String, key: String) {
        let (key, request) = (directory + "/\(name).key", directory + "/\(name).csr")
        try Self.openssl([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)",
            "-keyout", key, "-out", request,
        ])
        return (try sign(request: request), try String(contentsOfFile: key, encoding: .utf8))
    }

    /// The certificate for a request, as PEM.
    func sign(request: String) throws -> String {
        let file = directory + "/signed.pem"
        try Self.openssl([
            "x509", "-req", "-in", request, "-CA", certificate, "-CAkey", key, "-CAcreateserial",
            "-days", "30", "-out", file,
        ])
        return try String(contentsOfFile: file, encoding: .utf8)
    }

    static func openssl(_ arguments: [String], environment: [String: String] = [:]) throws {
        let done = try Program.run("/usr/bin/env", ["openssl"] + arguments, environment: environment)
        try require(done.status == 0, done.all)
    }
}

extension Fleet {
    /// Replaces a line's text in a file, once.
    func edit(_ file: String, _ text: String, to other: String) throws {
        let before = try String(contentsOfFile: file, encoding: .utf8)
        try require(before.contains(text), "\(file) has no \(text)")
        try before.replacingOccurrences(of: text, with: other).write(toFile: file, atomically: true, encoding: .utf8)
    }

    func link() throws -> [String: Any] { try require(try status()["link"] as? [String: Any], "no link") }

    func session() throws -> String? { try link()["session"] as? String }
}

/// Writes a file that only its owner may read.
func writeSecret(_ text: String, to file: String) throws {
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    chmod(file, 0o600)
}
