import AgentControl
import ArgumentParser
import JSON

/// `saker fence list`
struct FenceList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the fences of this vehicle.",
        discussion: """
            Examples:
              saker fence list
              saker fence list --group yard
              saker fence list --file yards.geojson --json
            """)

    @OptionGroup var agent: AgentOptions
    @OptionGroup var selection: FenceSelectionOptions

    func run() async throws {
        var fences: [LocalFenceReport] = []
        try await FenceCalls.pages(
            .listFences, try await selection.parameters(agent), agent, isPrinted: true
        ) { (page: FencesReply) in
            fences += page.fences
            return page.more ? page.fences.last?.id : nil
        }
        if agent.json { return }
        for line in FenceView.table(fences) { Console.print(line) }
    }
}

/// `saker fence show`
struct FenceShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows everything about a fence of this vehicle.")

    @OptionGroup var agent: AgentOptions

    @Argument(help: "The number or the name of the fence.")
    var fence: String

    func run() async throws {
        let report = try await FenceCalls.one(fence, agent)
        if agent.json { return Console.print(try JSONValue(encoding: report).description) }
        for line in FenceView.details(report) { Console.print(line) }
    }
}
