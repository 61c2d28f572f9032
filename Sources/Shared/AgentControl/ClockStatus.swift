/// The system clock of the box. Points do not depend on it; certificates may be judged by it.
package struct ClockStatus: Codable, Hashable, Sendable {
    /// The kernel's word: somebody keeps the clock and says that it is right.
    package var synchronised: Bool
    /// Milliseconds that the server's clock was ahead at the last login; negative: behind; nil before there was one.
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
