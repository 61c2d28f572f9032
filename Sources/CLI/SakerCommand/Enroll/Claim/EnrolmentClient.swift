import ConfigurationFile
import HTTPExchange
import JSON
import NIOPosix
import SecureLink
import Terminal

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
            case .unreachable, .timeout, .cut:
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
