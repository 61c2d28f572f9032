import TrackStore

/// Calls of the published service that need what this server never has: tolls of roads. They answer that they are not offered,
/// and not that they do not exist, so that a client can tell the one from the other.
enum UnofferedEndpoints {
    static let all = [endpoint("toll/car"), endpoint("toll/truck")]

    private static func endpoint(_ path: String) -> Endpoint {
        Endpoint(path, .get, [], scope: .read) { _, _ in
            throw APIFailure(.notAllowed, "this server does not offer \(path)")
        }
    }
}
