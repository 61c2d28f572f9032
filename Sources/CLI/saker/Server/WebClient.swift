import AgentControl
import AsyncHTTPClient
import ConfigurationFile
import Glibc
import JSON
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Calls of the Web API.
struct WebClient {
    /// The most bytes of one answer. A page of 5,000 points with attributes stays far below.
    private static let maximumAnswerBytes = 64 << 20
    private static let timeout = TimeAmount.seconds(60)

    private enum Way {
        case direct(ServerOptions.Resolved, HTTPClient)
        /// The agent calls with its own identity. The caller needs no key.
        case agent(AgentOptions)
    }

    private let way: Way

    /// The most points of one page. An answer through the agent must fit into one frame.
    var pagePoints: Int64 {
        switch way {
        case .direct: 5000
        case .agent: 1000
        }
    }

    /// Runs `body` with a client that is shut down afterwards.
    static func with<Result>(
        _ options: ServerOptions, _ body: (WebClient) async throws -> Result
    ) async throws -> Result {
        if let socket = try options.agentSocket() {
            var agent = AgentOptions()
            agent.socket = socket
            return try await body(WebClient(way: .agent(agent)))
        }
        let server = try options.resolve()
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout = .init(connect: .seconds(10))
        // A name that resolves to a dead address must not retry for ever.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let file = server.authorityFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            do {
                tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
            } catch {
                throw CommandFailure(.failed, "cannot read certificates from \(file): it must be a readable PEM file")
            }
            configuration.tlsConfiguration = tls
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result
        do {
            result = try await body(WebClient(way: .direct(server, http)))
        } catch {
            try? await http.shutdown()
            throw error
        }
        try? await http.shutdown()
        return result
    }

    /// The entity that a person named, or else the entity of the agent that asks.
    func entity(_ name: String?) async throws -> String {
        if let name { return name }
        guard let own = try await ownEntity() else {
            throw CommandFailure(
                .usage, "which entity? Give its name; only on a vehicle, through the agent, may it be left out")
        }
        return own
    }

    /// The entity of the agent that asks; nil when no agent asks.
    func ownEntity() async throws -> String? {
        guard case .agent(let agent) = way else { return nil }
        let status: AgentStatus
        do {
            status = try await agent.client.status()
        } catch {
            throw agent.failure(error)
        }
        guard let entity = status.entity else {
            throw CommandFailure(.failed, "the agent has no entity yet: saker service start --entity NAME")
        }
        return entity
    }

    /// Calls `path` (as in `track/gettrack`) and returns the answer when its status is 0.
    ///
    /// Statuses of `allowed` count as answers too.
    func call(
        _ path: String, _ parameters: [(String, String)], post: Bool = false, allowed: Set<Int64> = []
    ) async throws -> JSONValue {
        let (code, answer) = try await ask(path, parameters, post: post)
        guard code == 0 || allowed.contains(code) else { throw refusal(code, answer) }
        return answer
    }

    /// Calls `path` and returns the answer with its status, whatever that is.
    func ask(
        _ path: String, _ parameters: [(String, String)], post: Bool
    ) async throws -> (status: Int64, answer: JSONValue) {
        switch way {
        case .direct(let server, let http): try await ask(server, http, path, parameters, post: post)
        case .agent(let agent): try await ask(agent, path, parameters)
        }
    }

    private func ask(
        _ agent: AgentOptions, _ path: String, _ parameters: [(String, String)]
    ) async throws -> (status: Int64, answer: JSONValue) {
        do {
            let reply = try await agent.client.callWebAPI(path, Dictionary(parameters) { $1 })
            return (reply.status, reply.response)
        } catch {
            throw agent.failure(error)
        }
    }

    private func ask(
        _ server: ServerOptions.Resolved, _ http: HTTPClient, _ path: String, _ parameters: [(String, String)],
        post: Bool
    ) async throws -> (status: Int64, answer: JSONValue) {
        var form = [("ak", server.accessKey.revealed), ("service_id", String(server.service))]
        if let code = server.appCode { form.append(("mcode", code.revealed)) }
        form += parameters
        let encoded = form.map { "\(FormText.encoded($0.0))=\(FormText.encoded($0.1))" }.joined(separator: "&")
        var request = HTTPClientRequest(url: "\(server.base.text)/\(path)" + (post ? "" : "?" + encoded))
        request.headers.add(name: "User-Agent", value: "saker")
        if post {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: encoded))
        }
        let status: UInt
        let body: ByteBuffer
        do {
            let response = try await http.execute(request, timeout: Self.timeout)
            status = response.status.code
            body = try await response.body.collect(upTo: Self.maximumAnswerBytes)
        } catch {
            throw Self.failure(error, of: server.base.text)
        }
        guard status == 200 else {
            throw CommandFailure(
                .failed, "\(server.base.text) answered HTTP \(status): is this the address of a Saker server?")
        }
        let rules = JSONRules(maximumBytes: Self.maximumAnswerBytes, maximumValues: .max)
        guard let answer = try? JSONReader.value(of: Array(body.readableBytesView), rules),
            let code = answer["status"]?.integerValue
        else {
            throw CommandFailure(
                .failed, "\(server.base.text) did not answer as a Saker server does: is the address right?")
        }
        return (code, answer)
    }

    /// The server's answer as an error, with what to do about it.
    func refusal(_ code: Int64, _ answer: JSONValue) -> CommandFailure {
        let detail = Self.detail(of: answer["message"]?.stringValue ?? "").printable
        let reason = [Refusal.text(code), detail.isEmpty ? nil : detail].compactMap { $0 }.joined(separator: ": ")
        return CommandFailure(
            .failed, "the server refused (status \(code))" + (reason.isEmpty ? "" : ": \(reason)"))
    }

    /// The published text of each status is Chinese. What a Saker server adds to it, after a colon, is English.
    static func detail(of message: String) -> String {
        let parts = message.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.utf8.allSatisfy({ $0 < 0x80 }) else { return message }
        return parts.count == 2 ? String(parts[1]) : ""
    }

    /// The error as a sentence. The error's own text may hold the request's address, which holds the key.
    private static func failure(_ error: any Error, of server: String) -> CommandFailure {
        if error is NIOSSLError || "\(error)".contains("CERTIFICATE_VERIFY_FAILED") || "\(error)".contains("handshake")
        {
            return CommandFailure(
                .unreachable,
                "the certificate of \(server) is not trusted, or is for another name. For a server that "
                    + "has its own authority, give --ca FILE (saker-server init prints where its ca.pem is)")
        }
        let reason = reason(error).map { ": \($0)" } ?? ""
        return CommandFailure(
            .unreachable, "the server cannot be reached at \(server)\(reason). Check the address and the network.")
    }

    private static func reason(_ error: any Error) -> String? {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            // Without addresses to try there was nothing but a name.
            error.connectionErrors.isEmpty
                ? "the name is not known" : error.connectionErrors.compactMap { reason($0.error) }.first
        case ChannelError.connectTimeout: "no answer in time"
        case let error as HTTPClientError where error == .connectTimeout || error == .deadlineExceeded:
            "no answer in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closed the connection"
        default: nil
        }
    }
}

/// Percent-encoding of forms and queries.
enum FormText {
    static func encoded(_ text: String) -> String {
        var result: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default: result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
