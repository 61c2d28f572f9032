/// The vehicle's system clock. Points do not depend on it. The agent may judge certificates by it.
package struct ClockStatus: Codable, Hashable, Sendable {
    /// Whether the kernel says that a program keeps the clock right.
    package var synchronised: Bool
    /// Milliseconds by which the server's clock was ahead at the last login, negative when behind. Nil before a login.
    package var serverDifference: Int64?

    package init(synchronised: Bool, serverDifference: Int64? = nil) {
        self.synchronised = synchronised
        self.serverDifference = serverDifference
    }

    enum CodingKeys: String, CodingKey {
        case synchronised
        case serverDifference = "server_difference"
    }
}
