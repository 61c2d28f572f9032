package import JSON

/// The reply of `AddPoints`.
package struct AddPointsReply: Codable, Hashable, Sendable {
    /// Points that the server has stored.
    package var stored: Int64
    package var refused: [RefusedPointReply]
    /// Attributes that no point shows, each key and reason once; nil from an agent of an earlier version.
    package var ignored: [IgnoredValue]?

    package init(stored: Int64, refused: [RefusedPointReply], ignored: [IgnoredValue]? = []) {
        self.stored = stored
        self.refused = refused
        self.ignored = ignored
    }
}

/// A custom point that the server did not store.
package struct RefusedPointReply: Codable, Hashable, Sendable {
    /// The index among the points of the call, from 0.
    package var index: Int64
    /// A sentence that names the value and the rule.
    package var reason: String

    package init(index: Int64, reason: String) {
        self.index = index
        self.reason = reason
    }
}

/// The server's answer to a Web API request.
package struct WebAPIReply: Codable, Hashable, Sendable {
    /// The Web API's status; 0 is success.
    package var status: Int64
    /// The whole answer.
    package var response: JSONValue

    package init(status: Int64, response: JSONValue) {
        self.status = status
        self.response = response
    }

    /// The reply as it is sent.
    var json: JSONValue { ["status": .integer(status), "response": response] }
}
