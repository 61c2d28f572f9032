import ConfigurationFile
import HTTPExchange
import JSON
import NIOPosix
import SecureLink
import Terminal
import TrackModel

/// Asks a server for an identity, or for the next certificate.
struct EnrolmentClient: Sendable {
    static let maximumAnswerBytes = 256 << 10

    enum Question: String, Sendable {
        case claim = "/enrol/v1/claim"
        case renew = "/enrol/v1/renew"
    }

    private let address: HTTPAddress
    private let security: TLSContext

    /// Throws when the address or the trust cannot be used. Nothing goes to an address without TLS: a token could be read on
    /// its way, and anybody could answer with an authority of his own.
    init(_ address: HTTPAddress, trusting options: TLSClientOptions) throws(CommandFailure) {
        guard address.isEncrypted else {
            throw CommandFailure(.failed, "\(address) is not encrypted, and nothing is asked there: \(WebAddress.rule)")
        }
        self.address = address
        do throws(SecureLinkError) {
            security = try TLSContext(options)
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
    }

    /// Claims until the machine says that it is over. Prints what a person should know.
    func claim(_ body: [UInt8], key: PublicKeyPin?, _ machine: EnrolmentMachine) async throws -> IssuedIdentity {
        try await run(machine) { () async throws(Trouble) in try answer(try await exchange(.claim, body), key) }
    }

    /// Asks for the next certificate in the same way. `body`: makes the request. The server asks for a nonce
    /// to be signed, which `body` gets then; one of an earlier version takes the first request, without a nonce.
    func renew(
        key: PublicKeyPin?, _ machine: EnrolmentMachine, body: (String?) throws(CommandFailure) -> [UInt8]
    ) async throws -> IssuedIdentity {
        try await run(machine) { () async throws(Trouble) in
            var answer = try await exchange(.renew, try Self.made(nil, body))
            // A nonce may become too old on the way, or the server may have been started again.
            for _ in 0..<2 {
                guard let nonce = Self.nonce(answer) else { break }
                answer = try await exchange(.renew, try Self.made(nonce, body))
            }
            return try self.answer(answer, key)
        }
    }

    private static func made(
        _ nonce: String?, _ body: (String?) throws(CommandFailure) -> [UInt8]
    ) throws(Trouble) -> [UInt8] {
        do throws(CommandFailure) {
            return try body(nonce)
        } catch {
            throw Trouble(text: error.description, code: error.code, canPass: false)
        }
    }

    /// What the server wants to be signed; nil for another answer.
    private static func nonce(_ answer: HTTPAnswer) -> String? {
        let rules = JSONRules(maximumBytes: maximumAnswerBytes, maximumDepth: 4, maximumValues: 100)
        guard answer.status == 401, let members = try? JSONReader.value(of: answer.body, rules),
            members["status"]?.stringValue == "challenge", let nonce = members["nonce"]?.stringValue,
            nonce.utf8.count == 48, nonce.allSatisfy(\.isHexDigit)
        else { return nil }
        return nonce
    }

    private func run(
        _ machine: EnrolmentMachine, _ ask: () async throws(Trouble) -> EnrolmentAnswer
    ) async throws -> IssuedIdentity {
        var machine = machine
        while true {
            let chance = Double.random(in: 0..<1)
            let action: EnrolmentMachine.Action
            do throws(Trouble) {
                action = machine.answered(try await ask(), chance: chance)
            } catch {
                action = machine.failed(error.text, code: error.code, canPass: error.canPass, chance: chance)
            }
            switch action {
            case .done(let identity): return identity
            case .stop(let failure): throw failure
            case .again(let milliseconds, let note):
                if let note { Output.complain("saker: \(note)") }
                try await Task.sleep(for: .milliseconds(milliseconds))
            }
        }
    }

    private struct Trouble: Error {
        let text: String
        let code: CommandFailure.Code
        let canPass: Bool
    }

    private func answer(_ received: HTTPAnswer, _ key: PublicKeyPin?) throws(Trouble) -> EnrolmentAnswer {
        do throws(UnusableAnswer) {
            return try EnrolmentAnswer(status: received.status, body: received.body, key: key)
        } catch {
            // A gateway on the way answers so while the server starts.
            throw Trouble(text: "\(address): \(error.text)", code: .failed, canPass: received.status >= 500)
        }
    }

    private func exchange(_ question: Question, _ body: [UInt8]) async throws(Trouble) -> HTTPAnswer {
        do throws(HTTPExchangeError) {
            let request = try HTTPRequest(
                .post, address, question.rawValue, contentType: "application/json", body: body)
            return try await HTTPExchange.run(
                request, security: security, limits: HTTPLimits(bodyBytes: Self.maximumAnswerBytes),
                on: MultiThreadedEventLoopGroup.singleton.next())
        } catch {
            switch error.code {
            case .unreachable, .timeout, .cut, .cancelled:
                throw Trouble(
                    text: "the server cannot be reached at \(address): \(error.detail)", code: .unreachable,
                    canPass: true)
            case .untrusted:
                let (whose, code): (String, CommandFailure.Code) =
                    switch question {
                    case .claim: ("the server of this line", .unreachable)
                    // A unit takes "unreachable" for a tunnel. This needs a person.
                    case .renew: ("the server of this vehicle", .failed)
                    }
                throw Trouble(text: "\(address) is not \(whose): \(error.detail)", code: code, canPass: false)
            case .notHTTP, .tooLarge:
                throw Trouble(text: "\(address): \(error.detail)", code: .failed, canPass: false)
            case .address, .configuration: throw Trouble(text: error.detail, code: .failed, canPass: false)
            }
        }
    }
}

/// What a vehicle says of itself when it asks for a certificate. The request for the certificate proves the key.
struct EnrolmentRequest: Hashable {
    /// Of a claim; a renewal needs none.
    var token: Secret?
    /// PKCS #10, PEM.
    var certificateRequest: String
    /// The name that a person wishes; nil: the token's pattern decides.
    var entity: String?
    var serial: String?
    /// ``MachineIdentity/mark``
    var machine: String
    var model: String?
    /// Of a renewal: what the server has asked for, and what the certificate request has in its name.
    var nonce: String?

    /// JSON; holds the token.
    var encoded: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            if let token { writer.member("token", token.revealed) }
            writer.member("request", certificateRequest)
            if let entity { writer.member("entity", entity) }
            if let serial { writer.member("serial", serial) }
            writer.member("machine", machine)
            if let model { writer.member("model", model) }
            // This program signs what the server asks for, at each renewal.
            writer.name("proves")
            writer.bool(true)
            if let nonce { writer.member("nonce", nonce) }
            writer.member("version", SakerVersion.text)
        }
        return writer.bytes
    }
}

/// By what a server knows this computer again: its serial number, and a mark that a copy of its disk on another computer
/// does not have.
struct MachineIdentity: Hashable {
    /// Of the manufacturer; nil when there is none that distinguishes computers.
    let serial: String?
    /// SHA-256 of the machine id and the board's UUID, 64 hexadecimal digits. It tells neither.
    let mark: String
    /// Manufacturer and product.
    let model: String?

    /// Reads the files of the kernel and of systemd below `root`. Root alone may read the UUID and serial numbers.
    init(root: String = "") throws(CommandFailure) {
        let dmi = root + "/sys/class/dmi/id/"
        let tree = root + "/proc/device-tree/"
        let boards = [dmi + "product_serial", dmi + "board_serial", tree + "serial-number"].compactMap {
            ComputerTraits.line(of: $0)
        }
        serial = boards.first { Self.distinguishes($0) }
        let traits = ComputerTraits(
            machineID: ComputerTraits.line(of: root + "/etc/machine-id"),
            board: ComputerTraits.line(of: dmi + "product_uuid") ?? boards.first)
        do throws(SecureLinkError) {
            mark = try traits.mark()
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
        let product = [dmi + "sys_vendor", dmi + "product_name"].compactMap { ComputerTraits.line(of: $0) }
            .filter(Self.distinguishes).joined(separator: " ")
        model =
            product.isEmpty
            ? ComputerTraits.line(of: tree + "model") : String(product.prefix(ComputerTraits.maximumCharacters))
    }

    /// What manufacturers write where they have nothing to write.
    private static let fillers: Set<String> = [
        "none", "n/a", "na", "default string", "to be filled by o.e.m.", "not specified", "not applicable", "o.e.m.",
        "system serial number", "system manufacturer", "system product name", "base board serial number", "unknown",
        "serial number", "invalid",
    ]

    static func distinguishes(_ text: String) -> Bool {
        let lower = text.lowercased()
        // "0", "00000000", "xxxxxxx" and "........"
        return !fillers.contains(lower) && Set(lower).count > 1
    }
}
