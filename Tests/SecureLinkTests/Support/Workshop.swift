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

/// A program run for a test, found in PATH, with its output in a file.
enum Command {
    struct Failure: Error {
        let arguments: [String]
        let output: String
    }

    /// Starts a program; its standard output and error go to the file at `output`.
    static func start(_ arguments: [String], output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let result = posix_spawnp(&process, arguments[0], &actions, nil, &words, environ)
        guard result == 0 else { throw Failure(arguments: arguments, output: String(cString: strerror(result))) }
        return process
    }

    /// Runs a program to its end; throws with its output when it does not exit with 0.
    static func run(_ arguments: [String], output: String) throws {
        let process = try start(arguments, output: output)
        guard wait(for: process) == 0 else { throw Failure(arguments: arguments, output: text(of: output)) }
    }

    /// Starts a program whose standard input and output are pipes of this process.
    static func converse(_ arguments: [String]) throws -> Conversation {
        var input: [Int32] = [0, 0]
        var output: [Int32] = [0, 0]
        guard pipe(&input) == 0, pipe(&output) == 0 else {
            throw Failure(arguments: arguments, output: String(cString: strerror(errno)))
        }
        for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            close(input[0])
            close(output[1])
        }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        posix_spawn_file_actions_adddup2(&actions, output[1], 2)
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let result = posix_spawnp(&process, arguments[0], &actions, nil, &words, environ)
        guard result == 0 else {
            close(input[1])
            close(output[0])
            throw Failure(arguments: arguments, output: String(cString: strerror(result)))
        }
        return Conversation(process: process, input: input[1], output: output[0])
    }

    static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    static func text(of path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

/// A running program that is spoken to; killed when nobody holds this any more.
final class Conversation {
    private let process: pid_t
    private let input: Int32
    private let output: Int32
    private(set) var heard = ""

    fileprivate init(process: pid_t, input: Int32, output: Int32) {
        self.process = process
        self.input = input
        self.output = output
    }

    deinit {
        kill(process, SIGKILL)
        _ = Command.wait(for: process)
        close(input)
        close(output)
    }

    func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// The first line that holds `text`, waiting at most two minutes for each piece of output.
    func line(containing text: String) throws -> String {
        while true {
            for line in heard.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            where line.utf8.firstRange(of: text.utf8) != nil {
                return String(line)
            }
            var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            var bytes = [UInt8](repeating: 0, count: 4096)
            guard poll(&ready, 1, 120_000) == 1 else { throw Command.Failure(arguments: [text], output: heard) }
            let count = read(output, &bytes, bytes.count)
            guard count > 0 else { throw Command.Failure(arguments: [text], output: heard) }
            heard += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
    }
}
