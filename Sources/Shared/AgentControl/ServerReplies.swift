package import JSON

/// What became of custom points.
package struct AddPointsReply: Codable, Hashable, Sendable {
    /// Points that are in the server's store now.
    package var stored: Int64
    package var refused: [RefusedPointReply]

    package init(stored: Int64, refused: [RefusedPointReply]) {
        self.stored = stored
        self.refused = refused
    }
}

/// A custom point that the server did not store.
package struct RefusedPointReply: Codable, Hashable, Sendable {
    /// Among those given, from 0.
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

    /// As it travels.
    var json: JSONValue { ["status": .integer(status), "response": response] }
}
