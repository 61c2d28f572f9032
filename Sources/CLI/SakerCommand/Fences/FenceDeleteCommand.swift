import AgentControl
import ArgumentParser
import Geofencing
import JSON
import NIOCore
import Terminal
import TrackModel

/// `saker fence delete`
struct FenceDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes fences of this vehicle. Its alarms stay in the journal.",
        discussion: """
            All of them are deleted, or none. A vehicle that is inside makes no exit. With --entity only fences that watch this
            entity and nobody else are deleted.

            Examples:
              saker fence delete 15 16
              saker fence delete depot
              saker fence delete --file yards.geojson
              saker fence delete --all --yes
            """)

    @OptionGroup var agent: AgentOptions
    @OptionGroup var selection: FenceSelectionOptions

    @Flag(name: .long, help: "Delete every fence.")
    var all = false

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    func validate() throws {
        let isSelected = !selection.fences.isEmpty || selection.hasConditions
        guard isSelected || all else {
            throw ValidationError("which fences? Give numbers or names, --group, --entity, --file, or --all")
        }
        guard !all || !isSelected else {
            throw ValidationError("--all deletes every fence: leave out what chooses some")
        }
    }

    func run() async throws {
        var found = try await FenceCalls.list(try await selection.parameters(agent), agent)
        if let entity = selection.entity {
            found = found.filter { FenceView.definition($0)?.watch.entities.map(\.text) == [entity] }
        }
        // There is nothing to delete, as wished.
        if found.isEmpty, all {
            return Console.print(agent.json ? "{\"code\":0,\"deleted\":[],\"durable\":true}" : "There are no fences.")
        }
        guard !found.isEmpty else {
            throw CommandFailure(.failed, "there is no such fence: saker fence list shows all")
        }
        // Who names a fence has been asked enough.
        if !yes, all || selection.hasConditions { try ask(found) }
        let chosen: [String: JSONValue?] =
            all ? ["all": true] : ["fences": .array(found.map { .integer($0.id) })]
        try await agent.call(.deleteFences, chosen, timeout: .seconds(60)) { (reply: DeleteFencesReply) in
            let numbers = reply.deleted.map { "\($0)" }
            return [
                numbers.count == 1
                    ? "Deleted fence \(numbers[0])."
                    : "Deleted \(Quantity.count(Int64(numbers.count), "fence"))."
            ]
        }
    }

    private func ask(_ fences: [LocalFenceReport]) throws {
        guard Console.asksTerminal else {
            throw CommandFailure(
                .usage,
                "deleting \(Quantity.count(Int64(fences.count), "fence")) cannot be undone: give --yes when nobody can be asked"
            )
        }
        for line in FenceView.table(fences, width: TerminalSize.columns) { Console.print(line) }
        Console.write(
            "Delete \(fences.count == 1 ? "this fence" : "these \(Quantity.count(Int64(fences.count), "fence"))")? [y/N] "
        )
        guard ["y", "yes"].contains(readLine()?.trimmed.lowercased() ?? "") else {
            throw CommandFailure(.failed, "nothing was deleted")
        }
    }
}
