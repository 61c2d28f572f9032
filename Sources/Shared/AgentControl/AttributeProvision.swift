import JSON
import Varlink

/// One connection on which a program provides attributes. The agent tells it each gathered point; it gives values.
package struct AttributeProvision: Sendable {
    private let conversation: VarlinkConversation

    init(_ conversation: VarlinkConversation) {
        self.conversation = conversation
    }

    /// Gives the values of the last point (nil at the beginning). Returns at the next point, and may wait for ever.
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
