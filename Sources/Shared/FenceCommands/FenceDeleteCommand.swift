package import ArgumentParser
internal import Geofencing
internal import Glibc
internal import Terminal
internal import TrackModel

/// `fence delete`
package struct FenceDelete<Holder: FenceHolder>: AsyncParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "delete",
            abstract: "Deletes fences \(Holder.place). Their alarms stay.",
            discussion: """
                All of them are deleted, or none. A vehicle that is inside makes no exit. With --entity only fences that watch this
                entity and nobody else are deleted.

                Examples:
                  \(Holder.typed("delete", "15 16"))
                  \(Holder.typed("delete", "depot"))
                  \(Holder.typed("delete", "--file yards.geojson"))
                  \(Holder.typed("delete", "--all --yes"))
                """)
    }

    @OptionGroup var holder: Holder
    @OptionGroup var selection: FenceSelectionOptions

    @Flag(name: .long, help: "Delete every fence.")
    var all = false

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    package init() {}

    package func validate() throws {
        let isSelected = !selection.fences.isEmpty || selection.hasConditions
        guard isSelected || all else {
            throw ValidationError("which fences? Give numbers or names, --group, --entity, --file, or --all")
        }
        guard !all || !isSelected else {
            throw ValidationError("--all deletes every fence: leave out what chooses some")
        }
    }

    package func run() async throws {
        var found = try await holder.fences(selection)
        if let entity = selection.entity {
            found = found.filter { $0.definition?.watch.entities.map(\.text) == [entity] }
        }
        // Without any, all are deleted, as wished.
        guard !found.isEmpty || all else {
            throw FenceCommandFailure(.failed, "there is no such fence: \(Holder.typed("list")) shows all")
        }
        // Who names a fence has been asked enough.
        if !yes, !found.isEmpty, all || selection.hasConditions { try ask(found) }
        try await holder.delete(found, isAll: all)
    }

    private func ask(_ fences: [Holder.Held]) throws {
        let what = fences.count == 1 ? "this fence" : "these \(fences.count) fences"
        guard isatty(STDIN_FILENO) == 1 else {
            throw FenceCommandFailure(
                .usage,
                "deleting \(fences.count == 1 ? "1 fence" : "\(fences.count) fences") cannot be undone: give --yes when nobody can be asked"
            )
        }
        for line in holder.table(fences) { Output.print(line) }
        Output.ask("Delete \(what)? [y/N] ")
        guard ["y", "yes"].contains((readLine() ?? "").trimmed.lowercased()) else {
            throw FenceCommandFailure(.failed, "nothing was deleted")
        }
    }
}
