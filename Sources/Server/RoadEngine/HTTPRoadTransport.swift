import AsyncHTTPClient
import NIOCore
import NIOHTTP1
package import RoadMatching

/// Calls the road engine through HTTP/1.1, on few connections that stay open. Redirects are not followed.
package final class HTTPRoadTransport: RoadTransport {
    private let base: String
    private let http: HTTPClient

    /// `base` begins with `http://` or `https://` and has no slash at its end. `connecting`: milliseconds for a connection.
    /// `shutdown()` must be called in the end.
    package init(_ base: String, connections: Int, connecting: Int64 = RoadDeadlines.connect) {
        self.base = base
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout = .init(connect: .milliseconds(connecting))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        configuration.httpVersion = .http1Only
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    package func shutdown() async { try? await http.shutdown() }

    package func exchange(_ request: RoadRequest, within timeout: Int64) async throws(RoadFailure) -> RoadReply {
        // The client's own deadline ends with the head of an answer, and a body may never end. An exchange that is
        // cancelled closes its connection, and the engine then drops the work (valhalla #4091).
        let outcome = await withTaskGroup(of: Result<RoadReply, RoadFailure>.self) { group in
            group.addTask { await self.exchange(request) }
            group.addTask {
                try? await Task.sleep(for: .milliseconds(timeout))
                return .failure(.timeout)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.timeout)
        }
        return try outcome.get()
    }

    private func exchange(_ request: RoadRequest) async -> Result<RoadReply, RoadFailure> {
        do {
            return .success(try await reply(to: request))
        } catch let error as HTTPClientError where error == .remoteConnectionClosed {
            // The engine may have closed an idle connection at this moment. It is asked once more: calls change nothing.
            do {
                return .success(try await reply(to: request))
            } catch {
                return .failure(Self.failure(error))
            }
        } catch {
            return .failure(Self.failure(error))
        }
    }

    private func reply(to request: RoadRequest) async throws -> RoadReply {
        var sent = HTTPClientRequest(url: base + request.path)
        sent.method = HTTPMethod(rawValue: request.method.rawValue)
        sent.headers.add(name: "User-Agent", value: "saker-server")
        if !request.body.isEmpty {
            sent.headers.add(name: "Content-Type", value: "application/json")
            sent.body = .bytes(ByteBuffer(bytes: request.body))
        }
        // The caller's timeout ends sooner.
        let response = try await http.execute(sent, deadline: .now() + .hours(1))
        let body = try await response.body.collect(upTo: RoadReply.largestBody)
        return RoadReply(status: Int(response.status.code), body: Array(body.readableBytesView))
    }

    private static func failure(_ error: any Error) -> RoadFailure {
        switch error {
        // The connection ended within an answer.
        case HTTPParserError.invalidEOFState: .refused
        case is NIOTooManyBytesError, is HTTPParserError: .invalid
        case let error as HTTPClientError where error == .connectTimeout || error == .readTimeout: .timeout
        case let error as HTTPClientError where error == .remoteConnectionClosed: .refused
        case is HTTPClientError: .invalid
        default: .refused
        }
    }
}
