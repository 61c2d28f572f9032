import Dispatch
import Foundation
import Glibc
import JSON
import NIOCore
import NIOPosix
import NIOSSL
import ProgramTestKit
import SecureLink
import Synchronization

/// A TLS server that answers claims and renewals as it is told, the last way for all further ones.
final class EnrolmentServer: Sendable {
    enum Way: Sendable {
        /// `web`: the address that it tells; nil: its own.
        case issue(days: Int = 90, entity: String = "van_07", authority: Bool = true, web: String? = nil)
        case json(String, status: String = "200 OK")
        /// These bytes, then the end of the connection.
        case raw(String)
        case hang
    }

    static let device = "0198c0de-0000-7000-8000-000000000001"

    private let authority: TestAuthority
    private let ways: Mutex<[Way]>
    private let heard = Mutex<[(path: String, body: JSONValue)]>([])
    private let channel = Mutex<(any Channel)?>(nil)
    /// What happens on the vehicle while it waits for an answer.
    private let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)
    /// One element for each request.
    let arrived: AsyncStream<Void>
    private let arrivals: AsyncStream<Void>.Continuation

    private init(_ authority: TestAuthority, _ ways: [Way]) {
        (arrived, arrivals) = AsyncStream.makeStream()
        self.authority = authority
        self.ways = Mutex(ways)
    }

    static func start(_ authority: TestAuthority, _ ways: Way...) async throws -> EnrolmentServer {
        let server = EnrolmentServer(authority, ways)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(authority.chain).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: authority.key, format: .pem))))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLock { $0 = channel }
        return server
    }

    var port: UInt16 { UInt16(channel.withLock { $0?.localAddress?.port } ?? 0) }
    var requests: [(path: String, body: JSONValue)] { heard.withLock { $0 } }
    /// From now on it answers so.
    func answers(_ way: Way) { ways.withLock { $0 = [way] } }
    func meanwhile(_ body: @escaping @Sendable () -> Void) { meanwhile.withLock { $0 = body } }
    func stop() async throws { try await channel.withLock { $0 }?.close().get() }

    /// The answer's bytes; nil: none.
    fileprivate func answer(_ path: String, _ body: JSONValue) throws -> String? {
        heard.withLock { $0.append((path, body)) }
        arrivals.yield()
        meanwhile.withLock { $0 }?()
        let way = ways.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        switch way {
        case .hang: return nil
        case .raw(let text): return text
        case .json(let text, let status): return Self.http(text, status)
        case .issue(let days, let entity, let hasAuthority, let web):
            let certificate = try authority.issue(body["request"]?.stringValue ?? "", days: days)
            var members: [String: JSONValue] = [
                "status": "issued", "device": .string(Self.device), "entity": .string(entity), "service": 7,
                "host": "localhost", "port": 7443, "web_address": .string(web ?? "https://localhost:\(port)"),
                "certificate": .string(certificate), "not_after": 0,
            ]
            if hasAuthority { members["authority"] = .string(try authority.text(authority.certificate)) }
            var writer = JSONWriter()
            writer.value(.object(members))
            return Self.http(String(decoding: writer.bytes, as: UTF8.self), "200 OK")
        }
    }

    private static func http(_ body: String, _ status: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let server: EnrolmentServer
        private var text = ""

        init(_ server: EnrolmentServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard let end = text.range(of: "\r\n\r\n"),
                let length = text.firstMatch(of: /Content-Length: (\d+)/).flatMap({ Int($0.1) }),
                text[end.upperBound...].utf8.count >= length
            else { return }
            let path = String(text.split(separator: " ")[1])
            let body = (try? JSONReader.value(of: Array(text[end.upperBound...].utf8), JSONRules())) ?? .null
            let channel = context.channel
            // Signing waits for a program, and other servers share the loop.
            DispatchQueue.global().async { [server] in
                guard let answer = try? server.answer(path, body) else { return }
                channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in channel.close(promise: nil) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

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

/// A PKCS#11 token in files, with one key and its PIN in a file.
struct SoftToken {
    static let uri = "pkcs11:token=box;object=key;type=private"
    static let pin = "735418"

    /// For programs that use the token.
    let environment: [String: String]
    let pinFile: String

    init(in directory: String) throws {
        let tokens = directory + "/tokens"
        try FileManager.default.createDirectory(atPath: tokens, withIntermediateDirectories: true)
        let configuration = directory + "/softhsm2.conf"
        try "directories.tokendir = \(tokens)\nobjectstore.backend = file\n"
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        environment = ["SOFTHSM2_CONF": configuration]
        pinFile = directory + "/pin"
        try write(pin: Self.pin)
        chmod(pinFile, 0o600)
        for command in [
            ["softhsm2-util", "--init-token", "--free", "--label", "box", "--so-pin", "4711", "--pin", Self.pin],
            [
                "pkcs11-tool", "--module", Need.softHSMModule, "--login", "--pin", Self.pin, "--token-label", "box",
                "--keypairgen", "--key-type", "EC:prime256v1", "--label", "key", "--id", "01",
            ],
        ] {
            let done = try Program.run("/usr/bin/env", command, environment: environment)
            try require(done.status == 0, done.all)
        }
    }

    func write(pin: String) throws { try (pin + "\n").write(toFile: pinFile, atomically: true, encoding: .utf8) }

    /// Of `saker enroll`.
    var options: [String] {
        ["--key", Self.uri, "--key-module", Need.softHSMModule, "--key-pin-file", pinFile]
    }
}
