import HTTPExchange
import NIOCore
import NIOPosix
package import RoadMatching
import SecureLink
import Synchronization

/// Calls the road engine through HTTP/1.1, on few connections that stay open. Redirects are not followed.
package final class HTTPRoadTransport: RoadTransport {
    private let address: HTTPAddress?
    private let connecting: Duration
    private let most: Int
    /// Made with the first call: the authorities of the system are read only for `https`.
    private let connections = Mutex<Result<HTTPConnections, RoadFailure>?>(nil)

    /// `base` begins with `http://` or `https://` and has no slash at its end. `connections`: those that stay open. `connecting`:
    /// milliseconds for a connection. `shutdown()` must be called in the end.
    package init(_ base: String, connections most: Int, connecting: Int64 = RoadDeadlines.connect) {
        address = try? HTTPAddress(base)
        (self.most, self.connecting) = (most, .milliseconds(connecting))
    }

    package func shutdown() async {
        let made = connections.withLock { $0 }
        if case .success(let connections)? = made { await connections.close() }
    }

    package func exchange(_ request: RoadRequest, within timeout: Int64) async throws(RoadFailure) -> RoadReply {
        let connections = try connections.withLock { made in
            let result = made ?? makeConnections()
            made = result
            return result
        }.get()
        do throws(HTTPExchangeError) {
            // An exchange whose time is over closes its connection, and the engine then drops the work (valhalla #4091).
            let answer = try await connections.run(try self.request(request), within: .milliseconds(timeout))
            return RoadReply(status: answer.status, body: answer.body)
        } catch {
            throw Self.failure(error)
        }
    }

    private func makeConnections() -> Result<HTTPConnections, RoadFailure> {
        guard let address else { return .failure(.refused) }
        let security: TLSContext?
        do throws(SecureLinkError) {
            security = address.isEncrypted ? try TLSContext(.web(.systemRoots)) : nil
        } catch {
            return .failure(.refused)
        }
        // Half of the time to connect is for TCP, half for TLS.
        let limits = HTTPLimits(connect: connecting * 2, bodyBytes: RoadReply.largestBody)
        return .success(
            HTTPConnections(
                to: address, security: security, limits: limits, keeping: most,
                on: MultiThreadedEventLoopGroup.singleton.any()))
    }

    private func request(_ request: RoadRequest) throws(HTTPExchangeError) -> HTTPRequest {
        guard let address else { throw HTTPExchangeError(.address, "the road engine has no address") }
        let method: HTTPRequest.Method =
            switch request.method {
            case .get: .get
            case .post: .post
            }
        return try HTTPRequest(
            method, address, request.path, contentType: request.body.isEmpty ? nil : "application/json",
            body: request.body, program: "saker-server")
    }

    private static func failure(_ error: HTTPExchangeError) -> RoadFailure {
        switch error.code {
        case .timeout, .cancelled: .timeout
        case .tooLarge, .notHTTP, .address: .invalid
        case .unreachable, .cut, .untrusted, .configuration: .refused
        }
    }
}
