/// A whole answer.
package struct HTTPAnswer: Hashable, Sendable {
    /// 200...999; informal answers (1xx) never end an exchange.
    package var status: Int
    /// In their order, names in lower case, values without white space around them.
    package var headers: [Header] = []
    package var body: [UInt8] = []

    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    /// The value of the first header of this name, which is in lower case.
    package subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// What an exchange may cost. Every wait and every buffer has a limit.
package struct HTTPLimits: Hashable, Sendable {
    /// Seconds until a connection is there, with TLS: half for each of both.
    package var connectSeconds: Int64
    /// Seconds from the begin to the end of the answer.
    package var totalSeconds: Int64
    /// Bytes of the answer's head, and of the lines between two chunks.
    package var headBytes: Int
    package var bodyBytes: Int

    package init(
        connectSeconds: Int64 = 20, totalSeconds: Int64 = 60, headBytes: Int = 64 << 10, bodyBytes: Int = 1 << 20
    ) {
        (self.connectSeconds, self.totalSeconds) = (connectSeconds, totalSeconds)
        (self.headBytes, self.bodyBytes) = (headBytes, bodyBytes)
    }
}
