import AgentControl
import ArgumentParser
import FenceCommands
import JSON
import NIOCore
import Terminal

extension FenceSelectionOptions {
    /// The parameters of a call. Asks the agent for the numbers of names. `source`: nil for the vehicle's own fences.
    func parameters(_ agent: AgentOptions, source: JSONValue? = nil) async throws -> [String: JSONValue?] {
        [
            "source": source, "fences": try await FenceCalls.numbers(of: fences, agent, source),
            "group": group.map(JSONValue.string), "entity": entity.map(JSONValue.string),
            "file": file.map(JSONValue.string), "layer": layer.map(JSONValue.string),
        ]
    }
}

/// Whose fences a command shows.
struct FenceSourceOptions: ParsableArguments {
    @Flag(name: .long, help: "The fences that the server has sent, in the place of the vehicle's own.")
    var server = false

    var source: JSONValue? { server ? .string("server") : nil }
}

/// Calls about fences that take more than one request.
enum FenceCalls {
    /// The numbers of the fences that a person means with numbers and names; nil when none is given.
    static func numbers(
        of texts: [String], _ agent: AgentOptions, _ source: JSONValue? = nil
    ) async throws -> JSONValue? {
        guard !texts.isEmpty else { return nil }
        var numbers: [Int64] = []
        for text in texts { numbers += try await Self.numbers(of: text, agent, source) }
        return .array(numbers.map(JSONValue.integer))
    }

    /// The numbers of the fences that a person means with a number or a name.
    private static func numbers(
        of text: String, _ agent: AgentOptions, _ source: JSONValue?
    ) async throws -> [Int64] {
        if let number = Int64(text), number > 0 { return [number] }
        let found = try await list(["name": .string(text), "source": source], agent)
        guard !found.isEmpty else { throw unknown(text, source) }
        return found.map(\.id)
    }

    private static func unknown(_ text: String, _ source: JSONValue?) -> CommandFailure {
        let list = "saker fence list\(source == nil ? "" : " --server") shows all"
        return CommandFailure(.failed, "there is no fence '\(text.shortened)': \(list)".printable)
    }

    /// The one fence that a person means.
    static func one(
        _ text: String, _ agent: AgentOptions, _ source: JSONValue? = nil
    ) async throws -> LocalFenceReport {
        let isNumber = Int64(text).map { $0 > 0 } == true
        let filter: [String: JSONValue?] =
            isNumber ? ["fences": .array([.integer(Int64(text) ?? 0)])] : ["name": .string(text)]
        let found = try await list(filter.merging(["source": source]) { $1 }, agent)
        guard let first = found.first else { throw unknown(text, source) }
        guard found.count == 1 else {
            let numbers = found.prefix(20).map { "\($0.id)" }.joined(separator: ", ")
            throw CommandFailure(
                .failed,
                "\(found.count) fences have the name '\(text.shortened)': give a number, one of \(numbers)".printable)
        }
        return first
    }

    static func list(_ filter: [String: JSONValue?], _ agent: AgentOptions) async throws -> [LocalFenceReport] {
        var fences: [LocalFenceReport] = []
        try await pages(.listFences, filter, agent) { (page: FencesReply) in
            fences += page.fences
            return page.more ? page.fences.last?.id : nil
        }
        return fences
    }

    /// One page after the other. `show` returns the last number of a page when there are more. With --json it prints the
    /// pages as they are.
    static func pages<Page: Decodable>(
        _ method: AgentMethod, _ filter: [String: JSONValue?], _ agent: AgentOptions, isPrinted: Bool = false,
        _ show: (Page) throws -> Int64?
    ) async throws {
        var after: Int64 = 0
        while true {
            let reply = try await agent.reply(
                method, filter.merging(["after": .integer(after), "limit": 1000]) { $1 }, timeout: .seconds(60))
            if isPrinted, agent.json { Output.print(json: reply.description) }
            guard let last = try show(try AgentOptions.decoded(reply)), last > after else { return }
            after = last
        }
    }
}
