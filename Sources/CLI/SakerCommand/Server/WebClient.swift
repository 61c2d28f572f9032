import AgentControl
import ConfigurationFile
import HTTPExchange
import JSON
import NIOPosix
import SecureLink
import Terminal

/// Calls of the Web API.
struct WebClient {
    /// The most bytes of one answer. A page of 5,000 points with attributes stays far below.
    private static let maximumAnswerBytes = 64 << 20
    private static let limits = HTTPLimits(bodyBytes: maximumAnswerBytes)

    private enum Way {
        case direct(ServerOptions.Resolved, HTTPAddress, TLSContext?)
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

    /// Runs `body` with a client for the server that the options name.
    static func with<Result>(
        _ options: ServerOptions, _ body: (WebClient) async throws -> Result
    ) async throws -> Result {
        if let socket = try options.agentSocket() {
            var agent = AgentOptions()
            agent.socket = socket
            return try await body(WebClient(way: .agent(agent)))
        }
        let server = try options.resolve()
        let address: HTTPAddress
        do throws(HTTPExchangeError) {
            address = try HTTPAddress(server.base.text)
        } catch {
            throw CommandFailure(.usage, error.detail)
        }
        let security = try address.isEncrypted ? security(server.authorityFile) : nil
        return try await body(WebClient(way: .direct(server, address, security)))
    }

    /// One for all requests of a command: the second connection resumes the session of the first.
    private static func security(_ authorityFile: String?) throws(CommandFailure) -> TLSContext {
        do {
            return try TLSContext(.web(authorityFile.map { .authorities(file: $0) } ?? .systemRoots))
        } catch {
            guard let file = authorityFile else { throw CommandFailure(.failed, error.detail) }
            throw CommandFailure(.failed, "cannot read certificates from \(file): it must be a readable PEM file")
        }
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
        case .direct(let server, let address, let security):
            try await ask(server, address, security, path, parameters, post: post)
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
        _ server: ServerOptions.Resolved, _ address: HTTPAddress, _ security: TLSContext?, _ path: String,
        _ parameters: [(String, String)], post: Bool
    ) async throws -> (status: Int64, answer: JSONValue) {
        var form = [("ak", server.accessKey.revealed), ("service_id", String(server.service))]
        if let code = server.appCode { form.append(("mcode", code.revealed)) }
        form += parameters
        let encoded = form.map { "\(FormText.encoded($0.0))=\(FormText.encoded($0.1))" }.joined(separator: "&")
        let received: HTTPAnswer
        do throws(HTTPExchangeError) {
            let request =
                post
                ? try HTTPRequest(
                    .post, address, "/\(path)", contentType: "application/x-www-form-urlencoded",
                    body: Array(encoded.utf8))
                : try HTTPRequest(.get, address, "/\(path)?\(encoded)")
            received = try await HTTPExchange.run(
                request, security: security, limits: Self.limits, on: MultiThreadedEventLoopGroup.singleton.next())
        } catch {
            throw Self.failure(error, of: server.base.text)
        }
        let status = received.status
        guard status == 200 else {
            throw CommandFailure(
                .failed, "\(server.base.text) answered HTTP \(status): is this the address of a Saker server?")
        }
        let rules = JSONRules(maximumBytes: Self.maximumAnswerBytes, maximumValues: .max)
        guard let answer = try? JSONReader.value(of: received.body, rules),
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

    /// The error as a sentence. No text of an exchange holds the request, which holds the key.
    private static func failure(_ error: HTTPExchangeError, of server: String) -> CommandFailure {
        switch error.code {
        case .untrusted:
            CommandFailure(
                .unreachable,
                "the certificate of \(server) is not trusted, or is for another name: \(error.detail). For a server that "
                    + "has its own authority, give --ca FILE (saker-server init prints where its ca.pem is)")
        case .notHTTP:
            CommandFailure(
                .failed, "\(server) did not answer as a Saker server does: \(error.detail). Is the address right?")
        case .tooLarge: CommandFailure(.failed, "\(server): \(error.detail)")
        case .address: CommandFailure(.usage, error.detail)
        case .configuration: CommandFailure(.failed, error.detail)
        case .unreachable, .timeout, .cut, .cancelled:
            CommandFailure(
                .unreachable,
                "the server cannot be reached at \(server): \(error.detail). Check the address and the network.")
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

/// What the statuses of the Web API mean, and what to do about them.
enum Refusal {
    /// A sentence without its end; nil for a status that this program does not know.
    static func text(_ status: Int64) -> String? {
        switch status {
        case 1: "the server failed; its log says why"
        case 2: "a value breaks a rule"
        case 3: "the request needs another HTTP method"
        case 10: "the request is larger than 8 MiB"
        case 101, 200...203: "the access key is not accepted: check --ak-file or SAKER_AK"
        case 210, 220, 230: "the access key may not be used from here"
        case 211: "this access key needs signed requests, and saker does not sign: use another key"
        case 240: "this is not allowed"
        case 260: "the server does not know this request"
        case 301, 302, 401, 402: "the key's quota is used up: try later"
        case 2001: "a track column of this name exists already"
        case 2002: "the column's name is reserved"
        case 2003: "the service has too many track columns"
        case 3003: "there is no such entity (saker entity list shows all entities)"
        case 3005: "an entity of this name exists already"
        case 3006: "there are too many points in this time: ask for a shorter time"
        case 3007: "the request is not UTF-8"
        case 3100: "a point's time is too far in the future"
        case 3101: "there are too many points in one request"
        case 3200:
            "the time is longer than a day, which only newer servers answer (long_range=1): ask for a shorter time"
        case 3201: "the end of the time lies before its beginning"
        case 4005: "the service does not exist, or the key belongs to another service: check --service-id"
        case 7001: "an entity column of this name exists already"
        case 7002: "there is no entity column of this name"
        case 9001: "there are too many points to analyse in this time: ask for a shorter time"
        default: nil
        }
    }
}
