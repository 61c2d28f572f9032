import AgentControl
import ArgumentParser
import FenceCommands
import JSON
import Terminal

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
