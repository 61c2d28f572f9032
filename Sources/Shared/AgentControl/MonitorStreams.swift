import JSON
import Varlink

/// The clients of `Monitor`. Confined to the server's event loop.
///
/// A class, because the end of one stream may begin another on the same connection while events are sent.
final class MonitorStreams {
    private var streams: [ObjectIdentifier: VarlinkReplyStream] = [:]

    var count: Int { streams.count }

    /// Returns why the client gets no events; nil when it does.
    func add(_ stream: VarlinkReplyStream, first: AgentEvent) -> (any Error)? {
        do {
            let frame = VarlinkFrame(continuing: try JSONValue(encoding: MonitorReply(event: first)))
            if stream.send(frame) { streams[ObjectIdentifier(stream)] = stream }
            return nil
        } catch {
            return error
        }
    }

    func remove(_ stream: VarlinkReplyStream) {
        streams[ObjectIdentifier(stream)] = nil
    }

    /// Encodes an event once for all clients. Throws when it cannot be encoded: no client has heard of it then.
    func publish(_ event: AgentEvent) throws {
        guard !streams.isEmpty else { return }
        let frame = VarlinkFrame(continuing: try JSONValue(encoding: MonitorReply(event: event)))
        for stream in Array(streams.values) where !stream.send(frame) {
            remove(stream)
            stream.fail(
                AgentControlError(
                    .tooSlow, in: .monitor,
                    reason: "events came faster than they were read: read faster, or call Monitor again"
                ).varlinkError)
        }
    }

    /// Ends every stream: a client that missed an event would go on with a state that is not the agent's. It calls again, and
    /// gets the whole status.
    func end(with error: VarlinkError) {
        for stream in Array(streams.values) {
            remove(stream)
            stream.fail(error)
        }
    }
}
