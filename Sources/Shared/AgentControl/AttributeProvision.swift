import JSON
import Varlink

/// One connection on which a program provides attributes: told of each point that is gathered, it gives values for it.
package struct AttributeProvision: Sendable {
    private let conversation: VarlinkConversation

    init(_ conversation: VarlinkConversation) {
        self.conversation = conversation
    }

    /// Gives what was asked for last, nil at the beginning, and returns when the next point is gathered; waits for ever.
    /// Throws as ``AgentControlClient``. After an ``AgentControlError`` it may be called again.
    package func next(_ answer: ProvidedAttributes?) async throws -> ProvideAttributesReply {
        var parameters: [String: JSONValue] = [:]
        if let answer {
            parameters = ["request": .integer(answer.request), "attributes": .object(answer.attributes)]
        }
        do {
            return try AgentControlClient.decode(
                try await conversation.call(
                    AgentControlClient.name(of: .provideAttributes), parameters, timeout: nil))
        } catch let error as VarlinkError {
            throw AgentControlClient.typed(error)
        }
    }

    package func close() { conversation.close() }
}
