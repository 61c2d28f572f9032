import TrackStore

/// Calls of the published service that need what this server never has: tolls of roads, and habits. They answer that they
/// are not offered, and not that they do not exist, so that a client can tell the one from the other.
enum UnofferedEndpoints {
    static let all = [
        endpoint("toll/car", .get), endpoint("toll/truck", .get), endpoint("frequentroute/createjob", .post),
        endpoint("frequentroute/getjob", .get),
    ]

    private static func endpoint(_ path: String, _ method: Endpoint.Method) -> Endpoint {
        Endpoint(path, method, [], scope: .read) { _, _ in
            throw APIFailure(.notAllowed, "this server does not offer \(path)")
        }
    }
}
