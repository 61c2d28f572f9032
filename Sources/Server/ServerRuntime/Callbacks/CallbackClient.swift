import AlarmCallbacks
import HTTPExchange
import NIOCore
import NIOPosix
import SecureLink
import Synchronization
import TrackModel
import TrackStore

/// Sends one request to an operator's URL. Whoever sets the URL must not reach with it what only this server reaches: the
/// host's addresses are asked for once, checked, and only a checked one is connected to; redirects are not followed.
struct CallbackClient: Sendable {
    private let names: CallbackNames
    private let authorities: CallbackAuthorities
    private let now: @Sendable () -> Timestamp
    private let timeout: Duration

    /// `timeout`: for one request, from the question for the address to the end of the answer.
    init(
        names: CallbackNames, authorities: CallbackAuthorities = CallbackAuthorities(file: nil),
        now: @escaping @Sendable () -> Timestamp, timeout: Duration = .milliseconds(CallbackRules.answer)
    ) {
        (self.names, self.authorities, self.now, self.timeout) = (names, authorities, now, timeout)
    }

    /// Returns at most about `timeout` later. `service`: whose URL it is.
    func send(_ body: [UInt8], to target: CallbackTarget, of service: ServiceID) async -> CallbackAnswer {
        let url: CallbackURL
        do throws(CallbackURL.Problem) {
            url = try CallbackURL(target.url)
        } catch {
            return .failed("the URL is not one: \(error)")
        }
        let end = ContinuousClock.now + timeout
        // Not a child task: a name server that hangs would hold up its parent for longer than that.
        let answer = await firstOf(end) { await exchange(body, url, target.secret, service, until: end) }
        return answer ?? .failed("it did not answer within \(timeout.components.seconds) s")
    }

    /// The result of `work`, which is cancelled at `end`; nil when it has none by then.
    private func firstOf(
        _ end: ContinuousClock.Instant, _ work: @escaping @Sendable () async -> CallbackAnswer
    ) async -> CallbackAnswer? {
        let (results, giver) = AsyncStream<CallbackAnswer?>.makeStream()
        let running = Task { giver.yield(await work()) }
        let timer = Task {
            try? await Task.sleep(until: end, clock: .continuous)
            giver.yield(nil)
        }
        defer {
            running.cancel()
            timer.cancel()
        }
        // The loop ends with nil when the caller is cancelled.
        for await result in results { return result }
        return nil
    }

    private func exchange(
        _ body: [UInt8], _ url: CallbackURL, _ secret: String, _ service: ServiceID, until end: ContinuousClock.Instant
    ) async -> CallbackAnswer {
        switch await names.addresses(of: url.host, port: url.port, for: service) {
        case .failed(let reason): return .failed(reason)
        case .found(let addresses):
            var failure = CallbackAnswer.failed("it has no address")
            for address in addresses.prefix(CallbackRules.addresses) {
                guard ContinuousClock.now < end, !Task.isCancelled else { break }
                let (answer, hasConnected) = await exchange(body, url, secret, at: address, until: end)
                // Another address is tried only when nothing can have been received at this one.
                if hasConnected { return answer }
                failure = answer
            }
            return failure
        }
    }

    private func exchange(
        _ body: [UInt8], _ url: CallbackURL, _ secret: String, at address: String,
        until end: ContinuousClock.Instant
    ) async -> (CallbackAnswer, hasConnected: Bool) {
        // Half of the time to connect is for TCP, half for TLS.
        let limits = HTTPLimits(
            connect: .seconds(8), total: end - ContinuousClock.now, bodyBytes: CallbackRules.answerBytes)
        let security: TLSContext?
        do throws(ServerError) {
            security = url.isSecure ? try authorities.tls() : nil
        } catch {
            return (.failed(error.detail), true)
        }
        do throws(HTTPExchangeError) {
            // Connects to the address that was checked: the name could have another one when it is asked again.
            let answer = try await HTTPExchange.run(
                request(body, url, secret), at: address, security: security, limits: limits,
                on: MultiThreadedEventLoopGroup.singleton.any())
            return (
                CallbackAnswer(
                    status: answer.status, signID: answer[CallbackAnswer.signHeader.lowercased()], body: answer.body),
                true
            )
        } catch {
            return (.failed(Self.reason(error)), error.unconnected == nil)
        }
    }

    private func request(
        _ body: [UInt8], _ url: CallbackURL, _ secret: String
    ) throws(HTTPExchangeError) -> HTTPRequest {
        let seconds = now().seconds
        return try HTTPRequest(
            .post, HTTPAddress(isEncrypted: url.isSecure, host: url.host, port: url.port), url.path,
            contentType: "application/json;charset=utf-8", body: body,
            headers: [
                HTTPHeader(CallbackAnswer.signHeader, CallbackAnswer.signID),
                HTTPHeader(CallbackSignature.timeHeader, String(seconds)),
                HTTPHeader(CallbackSignature.header, CallbackSignature.value(of: body, at: seconds, secret: secret)),
            ], program: "saker-server")
    }

    /// Nothing of the answer itself, and no address: it is for logs and clients.
    private static func reason(_ error: HTTPExchangeError) -> String {
        switch error.unconnected {
        case nil: break
        case .refused: return "no connection: it was refused"
        case .timeout: return "no connection in time"
        case .noRoute: return "no connection: no route leads there"
        case .noAddress: return "no connection: it has no address"
        }
        return switch error.code {
        case .tooLarge: "its answer has more than \(CallbackRules.answerBytes) bytes"
        case .untrusted: "its certificate is not trusted, or it does not speak TLS as it must"
        case .unreachable: "the connection failed"
        case .timeout: "it did not answer in time"
        case .cut: "it closed the connection"
        case .notHTTP: "its answer is no HTTP/1.1"
        case .cancelled: "the request was broken off"
        case .address, .configuration: "the request failed"
        }
    }
}

/// Whose certificates operators' servers may have: those of the system's authorities, and of a file.
struct CallbackAuthorities: Hashable, Sendable {
    /// Nil: the system's alone.
    let file: String?

    init(file: String?) { self.file = file }

    /// Reads the file anew: who replaces it need not restart the server.
    ///
    /// - Throws: ``ServerError`` when the file cannot be used; the sentence names it.
    func tls() throws(ServerError) -> TLSContext {
        do throws(SecureLinkError) {
            return try TLSContext(.web(file.map { .systemRootsAnd(file: $0) } ?? .systemRoots))
        } catch {
            throw ServerError(
                .certificate,
                (file.map {
                    "\($0) has no certificates that can be used: ca in [callbacks] must name a PEM file of authorities. "
                } ?? "") + error.detail)
        }
    }
}

/// Asks an operator's URL whether it takes alarms, before it is set.
final class CallbackCheck: Sendable {
    private let client: CallbackClient
    private let places = Mutex(CallbackRules.checks)

    init(_ client: CallbackClient) { self.client = client }

    /// Why the URL cannot be set, for whoever sets it; nil when it can.
    func problem(with target: CallbackTarget, of service: ServiceID) async -> String? {
        do throws(CallbackURL.Problem) {
            _ = try CallbackURL(target.url)
        } catch {
            return "url: \(error)"
        }
        switch places.withLock({ $0.begin(of: service) }) {
        case nil: break
        case .service: return "url: other URLs of this service are being checked now: try again"
        case .all: return "url: too many URLs are being checked now: try again"
        }
        defer { places.withLock { $0.end(of: service) } }
        switch await client.send(CallbackBody.check(of: service), to: target, of: service) {
        case .taken: return nil
        case .failed(let reason): return "url: \(reason)"
        }
    }
}
