import NIOCore
import Varlink

// What goes through the agent to the server.
extension AgentControlService {
    func addPoints(_ parameters: inout CallParameters) throws -> EventLoopFuture<AddPointsReply> {
        let entity = try parameters.string("entity")
        let given = try parameters.requiredArray("points")
        try parameters.finish()
        try check(entity, .addPoints)
        return handler.addPoints(try CustomPoint.points(given), entity: entity)
    }

    /// The answer may be long. It is passed on as it came: nothing encodes and decodes it again.
    func call(_ parameters: inout CallParameters) throws -> VarlinkAnswer {
        let path = try parameters.requiredString("path")
        let arguments = try parameters.dictionary("parameters") ?? [:]
        try parameters.finish()
        guard !path.isEmpty else {
            throw AgentControlError(
                .parameterError, in: .call, reason: "'path' is empty: give one such as track/getlatestpoint",
                parameter: "path")
        }
        return .reply(
            handler.call(path: path, parameters: arguments).assumeIsolated().map(\.json)
                .flatMapErrorThrowing { [self] in throw varlinkError($0, in: .call) }.nonisolated())
    }
}
