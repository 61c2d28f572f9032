/// One call of the road engine: an HTTP request without its address.
package struct RoadRequest: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable {
        case get = "GET"
        case post = "POST"
    }

    package let method: Method
    /// Begins with a slash.
    package let path: String
    /// JSON, or empty.
    package let body: [UInt8]

    /// Whether the engine is there, and which map it has.
    package static let status = RoadRequest(method: .get, path: "/status", body: [])
}
