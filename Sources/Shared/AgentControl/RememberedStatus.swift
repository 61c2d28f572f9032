/// Whether what the agent was told, and the settings, are on the disk.
package struct RememberedStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Everything is on the disk.
        case durable
        /// A write is under way.
        case writing
        /// The last write failed, or takes too long: a restart may forget the last changes.
        case failing
    }

    package var state: State
    package var since: Int64?
    /// Why it is failing, a sentence.
    package var lastError: String?

    package init(state: State, since: Int64? = nil, lastError: String? = nil) {
        self.state = state
        self.since = since
        self.lastError = lastError
    }

    enum CodingKeys: String, CodingKey {
        case state, since
        case lastError = "last_error"
    }
}
