import ConfigurationFile
import HTTPExchange
import JSON
import NIOPosix
import SecureLink

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

    /// Asks until the machine says that it is over. Prints what a person should know.
    func run(
        _ question: Question, _ body: [UInt8], key: PublicKeyPin?, _ machine: EnrolmentMachine
    ) async throws -> IssuedIdentity {
        var machine = machine
        while true {
            let chance = Double.random(in: 0..<1)
            let action: EnrolmentMachine.Action
            do throws(Trouble) {
                action = machine.answered(try await ask(question, body, key), chance: chance)
            } catch {
                action = machine.failed(error.text, code: error.code, canPass: error.canPass, chance: chance)
            }
            switch action {
            case .done(let identity): return identity
            case .stop(let failure): throw failure
            case .again(let milliseconds, let note):
                if let note { Console.complain("saker: \(note)") }
                try await Task.sleep(for: .milliseconds(milliseconds))
            }
        }
    }

    private struct Trouble: Error {
        let text: String
        let code: CommandFailure.Code
        let canPass: Bool
    }

    private func ask(_ question: Question, _ body: [UInt8], _ key: PublicKeyPin?) async throws(Trouble)
        -> EnrolmentAnswer
    {
        let received: HTTPAnswer
        do throws(HTTPExchangeError) {
            let request = try HTTPRequest(
                .post, address, question.rawValue, contentType: "application/json", body: body)
            received = try await HTTPExchange.run(
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
        do throws(UnusableAnswer) {
            return try EnrolmentAnswer(status: received.status, body: received.body, key: key)
        } catch {
            // A gateway on the way answers so while the server starts.
            throw Trouble(text: "\(address): \(error.text)", code: .failed, canPass: received.status >= 500)
        }
    }
}
