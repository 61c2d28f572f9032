/// What goes along when a fence tells an action. Nobody on the way reads it: it is for hooks and programs.
package struct FenceReaction: Hashable, Sendable {
    package let on: FenceAction
    /// A JSON object; its owner has seen to that.
    package let parameters: String
    /// Whether everyone whom the fence watches is told, not only the entity that moved.
    package let isRemote: Bool

    /// Bytes of parameters.
    package static let mostBytes = 4096
    /// Most entities to which one alarm is told remotely: see decision 18.
    package static let mostRemote = 100

    /// - Throws: ``FenceError`` for parameters that are too long.
    package init(on action: FenceAction, parameters: String, isRemote: Bool = false) throws(FenceError) {
        try FenceError.checkText(parameters, "params on \(action.rawValue)", .reaction, most: Self.mostBytes)
        on = action
        self.parameters = parameters
        self.isRemote = isRemote
    }
}

extension FenceDefinition {
    /// Of a vehicle's own fence: an action that others should hear of, although the server, which would tell them, gets no report;
    /// nil: there is none.
    package var unreportedRemote: FenceAction? { isReported ? nil : reactions.first(where: \.isRemote)?.on }
}
