import Glibc

/// A certificate authority in a temporary directory, run with the openssl command.
final class Workshop {
    let directory: String
    /// Self-signed, valid from 2010 to 2098.
    let authority: Issued

    struct Issued: Sendable {
        /// PEM files.
        let certificate: String
        let key: String
    }

    init() throws {
        var template = Array("/tmp/saker-link-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Command.Failure(arguments: ["mkdtemp"], output: "") }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        authority = Issued(certificate: "\(directory)/authority.pem", key: "\(directory)/authority.key")
        try write(
            """
            [ca]
            default_ca = ours
            [ours]
            database = \(directory)/index
            new_certs_dir = \(directory)
            rand_serial = yes
            default_md = sha256
            policy = any
            unique_subject = no
            [any]
            commonName = supplied
            [authority]
            basicConstraints = critical, CA:TRUE
            [req]
            distinguished_name = name
            [name]
            """, to: "config")
        try write("", to: "index")
        try request("authority", subject: "Test Authority")
        try sign(
            "authority", extensions: "authority", from: "20100101000000Z", to: "20981231000000Z",
            arguments: ["-selfsign", "-keyfile", authority.key])
    }

    deinit {
        try? Command.run(["rm", "-r", directory], output: "/dev/null")
    }

    /// A certificate of the authority's; `names` as OpenSSL writes them: `DNS:localhost,IP:127.0.0.1`.
    func issue(
        _ name: String, names: String = "DNS:localhost,IP:127.0.0.1", from: String = "20200101000000Z",
        to: String = "20981231000000Z", by issuer: Issued? = nil
    ) throws -> Issued {
        let issuer = issuer ?? authority
        try request(name, subject: name)
        try write(
            try Self.text("\(directory)/config") + "\n[leaf]\nbasicConstraints = critical, CA:FALSE\n"
                + (names.isEmpty ? "" : "subjectAltName = \(names)\n"), to: "config-\(name)")
        try sign(
            name, config: "config-\(name)", extensions: "leaf", from: from, to: to,
            arguments: ["-cert", issuer.certificate, "-keyfile", issuer.key])
        return Issued(certificate: "\(directory)/\(name).pem", key: "\(directory)/\(name).key")
    }

    @discardableResult
    func write(_ text: String, to name: String, mode: mode_t = 0o600) throws -> String {
        let path = "\(directory)/\(name)"
        guard let file = fopen(path, "w") else { throw Command.Failure(arguments: [path], output: "not written") }
        fputs(text, file)
        fclose(file)
        chmod(path, mode)
        return path
    }

    func openssl(_ arguments: String...) throws -> String {
        try openssl(arguments)
    }

    @discardableResult
    private func openssl(_ arguments: [String]) throws -> String {
        try Command.run(["openssl"] + arguments, output: "\(directory)/output")
        return Command.text(of: "\(directory)/output")
    }

    private func request(_ name: String, subject: String) throws {
        try openssl([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config",
            "\(directory)/config", "-subj", "/CN=\(subject)", "-keyout", "\(directory)/\(name).key", "-out",
            "\(directory)/\(name).csr",
        ])
    }

    private func sign(
        _ name: String, config: String = "config", extensions: String, from: String, to: String, arguments: [String]
    ) throws {
        try openssl(
            [
                "ca", "-batch", "-notext", "-config", "\(directory)/\(config)", "-extensions",
                extensions, "-startdate", from, "-enddate", to, "-in", "\(directory)/\(name).csr", "-out",
                "\(directory)/\(name).pem",
            ] + arguments)
    }

    private static func text(_ path: String) throws -> String { Command.text(of: path) }
}
