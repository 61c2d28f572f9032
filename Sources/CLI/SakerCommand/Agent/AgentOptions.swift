import AgentControl
import ArgumentParser
import Glibc
import JSON
import NIOCore
import Terminal
import Varlink

/// How to reach the agent, and how to show its answers.
struct AgentOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The agent's control socket (default: $SAKER_SOCKET, or \(AgentInterface.defaultSocketPath)).",
            valueName: "path"))
    var socket: String?

    @Flag(name: .long, help: "Print the agent's answer as it is, one line of JSON (times in ms, m, m/s).")
    var json = false

    var path: String { Self.path(socket) }

    /// The socket of the option, or of the environment, or the default one.
    static func path(_ socket: String?) -> String {
        if let socket { return socket }
        if let variable = getenv("SAKER_SOCKET"), variable.pointee != 0 { return String(cString: variable) }
        return AgentInterface.defaultSocketPath
    }

    var client: AgentControlClient { AgentControlClient(path: path) }

    /// Calls the agent and prints the lines that `show` makes of the answer. With --json it prints the answer as it is.
    func call<Reply: Decodable>(
        _ method: AgentMethod, _ parameters: [String: JSONValue?] = [:], timeout: TimeAmount? = nil,
        _ show: (Reply) -> [String]
    ) async throws {
        let reply = try await reply(method, parameters, timeout: timeout)
        if json {
            Output.print(json: reply.description)
        } else {
            for line in show(try Self.decoded(reply)) { Output.print(line) }
        }
        try await demandRemembered(reply, of: method)
    }

    /// The agent answers within 50 ms, and the card of a vehicle may take longer. Waits for its disk, at most ten seconds, before it throws.
    func demandRemembered(_ reply: JSONValue, of method: AgentMethod) async throws {
        let isOfFences = Self.fences.contains(method)
        guard reply["durable"]?.boolValue == false, isOfFences || Self.remembered.contains(method) else {
            return try Self.demandDurable(reply)
        }
        for _ in 0..<100 {
            let status = try? await client.call(.getStatus, parameters: [:])["status"]
            switch (isOfFences ? status?["fences"] : status)?["remembered"]?["state"]?.stringValue {
            case "durable": return
            case "writing": try await Task.sleep(for: .milliseconds(100))
            default: return try Self.demandDurable(reply)
            }
        }
        try Self.demandDurable(reply)
    }

    /// The methods that change what the status calls remembered.
    private static let remembered: Set<AgentMethod> = [
        .startService, .stopService, .startGather, .stopGather, .setIntervals, .setCacheLimit, .setLocationOptions,
        .resetSettings,
    ]

    /// Those that change what the status calls remembered of the fences.
    private static let fences: Set<AgentMethod> = [.createFence, .updateFence, .deleteFences, .importFences]

    /// Throws when the agent has done what it was told, and its disk has not.
    static func demandDurable(_ reply: JSONValue) throws(CommandFailure) {
        guard reply["durable"]?.boolValue == false else { return }
        throw CommandFailure(
            .failed, "this is done, and not on the disk yet: a power cut now would undo it. See: saker status")
    }

    /// The agent's answer as it is.
    func reply(
        _ method: AgentMethod, _ parameters: [String: JSONValue?] = [:], timeout: TimeAmount? = nil
    ) async throws -> JSONValue {
        do {
            return try await client.call(method, parameters: parameters, timeout: timeout)
        } catch {
            throw failure(error)
        }
    }

    static func decoded<Value: Decodable>(_ reply: JSONValue, as type: Value.Type = Value.self) throws -> Value {
        do {
            return try reply.decoded()
        } catch {
            throw CommandFailure(
                .failed,
                "saker does not understand the agent's answer, because the two have different versions; --json "
                    + "shows it as it is")
        }
    }

    /// The error as a sentence, with what to do about it.
    func failure(_ error: any Error) -> any Error {
        switch error {
        case let error as AgentControlError:
            CommandFailure(error.code == .networkError ? .unreachable : .failed, error.reason.printable)
        case let error as VarlinkError: Self.failure(error)
        case let error as VarlinkClientError: failure(error)
        default: error
        }
    }

    private static func failure(_ error: VarlinkError) -> CommandFailure {
        let parameter = error.parameters["parameter"]?.stringValue.map { " '\($0)'" } ?? ""
        return switch error.name {
        case VarlinkError.methodNotFoundName, VarlinkError.methodNotImplementedName, VarlinkError.interfaceNotFoundName:
            CommandFailure(.failed, "the agent does not know this command: it is older than this program, update it")
        case VarlinkError.invalidParameterName:
            CommandFailure(.failed, "the agent does not take the parameter\(parameter.printable)")
        default: CommandFailure(.failed, "the agent answered \(error)".printable)
        }
    }

    /// Without its configuration systemd does not start the agent. A folder that may not be entered hides the file.
    private static var isEnrolled: Bool { access(ConfigurationProbe.systemPath, F_OK) == 0 || errno != ENOENT }

    private func failure(_ error: VarlinkClientError) -> CommandFailure {
        switch error.code {
        case .missing where path == AgentInterface.defaultSocketPath && !Self.isEnrolled:
            CommandFailure(
                .unreachable,
                "the agent does not run: this vehicle is not enrolled (\(ConfigurationProbe.systemPath) does not "
                    + "exist). Set it up with the line of the server: sudo saker enroll -")
        case .missing:
            CommandFailure(
                .unreachable,
                "the agent cannot be reached: \(error.detail). Is it running (systemctl status sakerd)? "
                    + "If it listens elsewhere, give --socket.")
        case .refused:
            CommandFailure(
                .unreachable, "the agent cannot be reached: \(error.detail). Start it: sudo systemctl start sakerd")
        case .permissionDenied:
            CommandFailure(
                .unreachable,
                "the agent cannot be reached: \(error.detail). Use sudo, or join the group for good: "
                    + "sudo usermod -aG saker $USER, then log in again.")
        case .timeout, .closed, .system:
            CommandFailure(
                .unreachable,
                "the agent cannot be reached: \(error.detail). Its journal may say why (journalctl -u sakerd).")
        case .malformed: CommandFailure(.failed, error.detail.printable)
        }
    }
}
