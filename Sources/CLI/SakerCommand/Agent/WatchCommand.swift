import AgentControl
import ArgumentParser
import JSON
import Terminal
import Varlink

/// `saker watch`
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows the events of the agent as they happen, until Ctrl-C.",
        discussion: """
            Examples:
              saker watch
              saker watch --json | jq 'select(.event.kind == "connection")'
            """)

    @OptionGroup var agent: AgentOptions

    func run() async throws {
        let replies = agent.client.varlink.stream("\(AgentInterface.name).\(AgentMethod.monitor.rawValue)")
        var view = EventView()
        do {
            for try await reply in replies {
                if agent.json {
                    Output.print(json: reply.description)
                } else if let line = view.line(try AgentOptions.decoded(reply, as: Reply.self).event) {
                    Output.print(line)
                }
            }
        } catch let error as VarlinkError {
            throw agent.failure(AgentControlError(error) ?? error)
        } catch let error as VarlinkClientError where error.code == .closed {
            throw CommandFailure(.unreachable, "the agent ended (journalctl -u sakerd may say why)")
        } catch {
            throw agent.failure(error)
        }
    }

    private struct Reply: Decodable {
        var event: AgentEvent
    }
}

/// One event in one line.
struct EventView {
    private var gather: String?

    /// Nil for an event that tells a person nothing new: gathering goes on with each point.
    mutating func line(_ event: AgentEvent) -> String? {
        guard case .gather = event.change else { return Self.line(event) }
        let text = Self.text(event)
        guard text != gather else { return nil }
        gather = text
        return Self.line(event)
    }

    static func line(_ event: AgentEvent) -> String {
        let kind = event.kind + String(repeating: " ", count: max(10 - event.kind.count, 0))
        return "\(LocalTime.clock(event.time))  \(kind)  \(text(event))".printable
    }

    private static func text(_ event: AgentEvent) -> String {
        switch event.change {
        case .status(let status): StatusView(status).headline
        case .connection(let link): text(link, at: event.time)
        case .gather(let gather):
            (gather.state == .waiting ? "waiting for a fix" : gather.state.rawValue)
                + (gather.parkedSince == nil ? "" : ", parked")
        case .service(let service): service.state.rawValue + (service.entity.map { " as \($0)" } ?? "")
        case .cache(let cache): CacheView.lines(cache, now: event.time).joined(separator: ", ")
        case .feed(let feed): text(feed)
        case .alarm(let alarm): AlarmView.text(alarm)
        case .loss(let loss):
            "points lost: "
                + loss.lost.sorted { $0.key < $1.key }.map { "\(Quantity.count($0.value)) (\($0.key))" }
                .joined(separator: ", ")
        case .other(_, let fields): fields.description
        }
    }

    private static func text(_ link: LinkStatus, at time: Int64) -> String {
        // The event before told why the last try failed.
        let error = [.waiting, .refused, .closed].contains(link.state) ? link.lastError : nil
        // Most errors begin with the server's address.
        let server = link.server.flatMap { error?.hasPrefix($0) == true ? nil : $0 }
        return [
            link.words, server, link.session.map { "session \($0)" }, error,
            link.nextTryTime.map { "next try \(DurationText.relative($0, now: time))" },
        ].compactMap { $0 }.joined(separator: ", ")
    }

    private static func text(_ feed: FeedStatus) -> String {
        let words =
            switch feed.state {
            case .closed: "receiver not in use"
            case .connecting: "gpsd has not answered yet"
            case .unreachable: "gpsd does not answer"
            case .permissionDenied: "gpsd may not be used"
            case .noDevice: "gpsd has no receiver"
            case .noFix: "no fix"
            case .fix: "fix"
            }
        let place = feed.lastFix.map {
            feed.state == .fix ? Quantity.place($0.latitude, $0.longitude) : nil
        }
        // The sentence of the agent says it with gpsd's address and the cause.
        if feed.state == .unreachable || feed.state == .permissionDenied, let error = feed.lastError,
            error.contains("gpsd ")
        {
            return error
        }
        return [words, place ?? nil, feed.device, feed.lastError].compactMap { $0 }.joined(separator: ", ")
    }
}
