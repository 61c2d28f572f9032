import HTTPExchange

/// The reader of HTTP answers: what may answer in a server's place.
enum AnswerProperties {
    private static let limits = HTTPLimits(headBytes: 1024, bodyBytes: 4096)

    /// First byte: the size of the pieces in which the rest arrives.
    @Sendable static func check(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let size = Int(reader.byte())
        let whole = outcome(of: [reader.rest])
        try require(outcome(of: reader.pieces(of: size)) == whole, "the answer depends on how the bytes arrive")
        switch whole {
        case .wait: throw Violation(description: "the end of a connection is no end")
        case .done(let answer):
            try require((200...999).contains(answer.status), "an answer with the status \(answer.status)")
            try require(answer.body.count <= limits.bodyBytes, "a body over its limit")
            for header in answer.headers {
                try require(
                    !header.name.isEmpty && !header.value.contains { $0 == "\n" || $0 == "\r" },
                    "a header breaks its line")
            }
        case .fail(let error):
            try require(
                !error.detail.isEmpty && error.detail.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
                "an error without a reason, or with control characters")
        }
        let text = String(decoding: reader.rest, as: UTF8.self)
        if let address = try? HTTPAddress(text) {
            let again = try HTTPAddress("\(address)")
            try require(
                again.authority == address.authority && again.path == address.path, "an address changes on its way")
        }
    }

    private static func outcome(of pieces: [ArraySlice<UInt8>]) -> HTTPAnswerReader.Action {
        var reader = HTTPAnswerReader(limits: limits)
        for piece in pieces {
            let action = reader.received(Array(piece))
            if action != .wait { return action }
        }
        return reader.ended(isWhole: true)
    }
}
