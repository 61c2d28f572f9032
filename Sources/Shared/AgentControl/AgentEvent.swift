package import JSON
import Varlink

/// One event of the stream that `Monitor` sends: something changed.
package struct AgentEvent: Hashable, Sendable {
    /// What changed, with its new state.
    package enum Change: Hashable, Sendable {
        /// The whole status. It is sent once, as the first event.
        case status(AgentStatus)
        case connection(LinkStatus)
        case gather(GatherStatus)
        case service(ServiceStatus)
        case cache(CacheStatus)
        case feed(FeedStatus)
        /// A new alarm or message is in the journal. Each one is sent once.
        case alarm(AlarmReport)
        /// Points were lost before the server had them.
        case loss(LossReport)
        /// A kind that a newer agent sends and this reader does not know.
        case other(kind: String, fields: JSONValue)
    }

    /// The agent's system clock, milliseconds since 1970.
    package var time: Int64
    package var change: Change

    package init(time: Int64, _ change: Change) {
        self.time = time
        self.change = change
    }

    /// The kind's name on the socket.
    package var kind: String {
        switch change {
        case .status: "status"
        case .connection: "connection"
        case .gather: "gather"
        case .service: "service"
        case .cache: "cache"
        case .feed: "feed"
        case .alarm: "alarm"
        case .loss: "loss"
        case .other(let kind, _): kind
        }
    }
}

extension AgentEvent: Codable {
    private enum CodingKeys: String, CodingKey {
        case time, kind, fields
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        time = try container.decode(Int64.self, forKey: .time)
        let kind = try container.decode(String.self, forKey: .kind)
        change =
            switch kind {
            case "status": .status(try container.decode(AgentStatus.self, forKey: .fields))
            case "connection": .connection(try container.decode(LinkStatus.self, forKey: .fields))
            case "gather": .gather(try container.decode(GatherStatus.self, forKey: .fields))
            case "service": .service(try container.decode(ServiceStatus.self, forKey: .fields))
            case "cache": .cache(try container.decode(CacheStatus.self, forKey: .fields))
            case "feed": .feed(try container.decode(FeedStatus.self, forKey: .fields))
            case "alarm": .alarm(try container.decode(AlarmReport.self, forKey: .fields))
            case "loss": .loss(try container.decode(LossReport.self, forKey: .fields))
            default: .other(kind: kind, fields: try container.decode(JSONValue.self, forKey: .fields))
            }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode(kind, forKey: .kind)
        switch change {
        case .status(let fields): try container.encode(fields, forKey: .fields)
        case .connection(let fields): try container.encode(fields, forKey: .fields)
        case .gather(let fields): try container.encode(fields, forKey: .fields)
        case .service(let fields): try container.encode(fields, forKey: .fields)
        case .cache(let fields): try container.encode(fields, forKey: .fields)
        case .feed(let fields): try container.encode(fields, forKey: .fields)
        case .alarm(let fields): try container.encode(fields, forKey: .fields)
        case .loss(let fields): try container.encode(fields, forKey: .fields)
        case .other(_, let fields): try container.encode(fields, forKey: .fields)
        }
    }
}

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
