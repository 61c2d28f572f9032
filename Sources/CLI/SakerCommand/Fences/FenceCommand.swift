import AgentControl
import ArgumentParser
import FenceCommands
import JSON
import NIOCore
import Terminal

/// `saker fence`
struct FenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fence",
        abstract: "Makes, shows and tries the fences of this vehicle.",
        discussion: """
            A fence is an area on the map. The agent tells when the vehicle enters it, leaves it or stays in it, also without
            a network: as an alarm (saker alarms, saker watch) and to hooks. These are the vehicle's own fences; the server
            has others.

            A place is LAT,LON in degrees, as in 40.04,116.3; south and west are negative, as in -54.8,-68.3.

            Examples:
              saker fence add circle --at 40.0405,116.3008 --radius 50 --name depot
              saker fence add polygon --at '40.0,116.0 40.0,116.01 40.01,116.01' --name yard --stay 300
              saker fence add corridor --at '40.0,116.0 40.0,116.02' --offset 50 --name 'route 7'
              saker fence import yards.geojson --where "kind = 'depot'" --buffer 20
              saker fence import route.gpx --buffer 50
              saker fence list
              saker fence status --at 40.0405,116.3008
              saker fence edit depot --radius 80
              saker fence delete depot
              saker fence export --output fences.geojson
              saker fence test drive.gpx --fences fences.geojson --output map.geojson
            """,
        subcommands: [
            FenceAdd<VehicleFenceClient>.self, FenceImportCommand.self, FenceList.self, FenceShow.self,
            FenceStatusCommand<VehiclePlaces>.self, FenceEditCommand<VehicleFenceClient>.self,
            FenceDelete<VehicleFenceClient>.self,
            FenceExportCommand.self, FenceTest<VehicleFenceClient>.self,
        ])
}

/// `saker fence list`
struct FenceList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the fences of this vehicle.",
        discussion: """
            Examples:
              saker fence list
              saker fence list --group yard
              saker fence list --file yards.geojson --json
              saker fence list --server                    fences that the server has sent
            """)

    @OptionGroup var agent: AgentOptions
    @OptionGroup var table: TableOptions
    @OptionGroup var selection: FenceSelectionOptions

    @OptionGroup var whose: FenceSourceOptions

    func run() async throws {
        var fences: [LocalFenceReport] = []
        let parameters = try await selection.parameters(agent, source: whose.source)
        try await FenceCalls.pages(
            .listFences, parameters, agent, isPrinted: true
        ) { (page: FencesReply) in
            fences += page.fences
            return page.more ? page.fences.last?.id : nil
        }
        if agent.json { return }
        for line in FenceView.table(fences.map(\.shown), width: table.width) { Output.print(line) }
    }
}

/// `saker fence show`
struct FenceShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows everything about a fence of this vehicle.")

    @OptionGroup var agent: AgentOptions

    @Argument(help: "The number or the name of the fence.")
    var fence: String

    @OptionGroup var whose: FenceSourceOptions

    func run() async throws {
        let report = try await FenceCalls.one(fence, agent, whose.source)
        if agent.json { return Output.print(json: try JSONValue(encoding: report).description) }
        for line in FenceView.details(report.shown, width: TerminalSize.columns) { Output.print(line) }
    }
}

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
