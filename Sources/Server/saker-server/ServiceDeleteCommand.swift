import ArgumentParser
import Glibc
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

extension Services {
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a service with everything in it, for good.",
            discussion: """
                Entities, tracks, fences, alarms, messages, exports, keys, tokens and devices of the service go. Its keys and its \
                vehicles are refused within a second. The vehicles keep the points that they have, and say why. The rest goes in \
                small steps, while the server serves other services; when the command is ended before, the running server goes on, \
                and so does the same command. The file of the store keeps its size, and new points use the room.

                The number of the service is never given out again.

                Examples:
                saker-server service delete 3
                saker-server service delete 3 --yes     without asking
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Flag(help: "Do not ask.")
        var yes = false

        private static let rowsBetweenLines = 100_000

        func run() async throws {
            let administration = try await ServiceAdministration(try file.load())
            if let plan = try await administration.deletionPlan(for: service) {
                let held = plan.holdings
                Output.print(
                    "Service \(service), \"\(plan.service.name)\", has \(counted(held.entities, "entity", many: "entities")), "
                        + "\(counted(held.points, "point")), \(counted(held.keys, "key")) and \(counted(held.devices, "device"))."
                )
                if !yes { try ask() }
                try await administration.delete(plan)
            } else {
                Output.print("Service \(service) was deleted before. What is left of it goes now.")
            }
            var told = 0
            try await administration.removeDeletedServices { rows in
                guard rows >= told + Self.rowsBetweenLines else { return }
                told = rows
                Output.complain("\(rows) rows are gone")
            }
            Output.print("Service \(service) is deleted.")
        }

        private func ask() throws {
            Output.ask("All of this is deleted for good. To go on, type the number of the service: ")
            guard let answer = readLine() else {
                throw ServerError(
                    .usage,
                    "nobody has answered, so nothing is deleted: a deletion cannot be undone. Give --yes when nobody can be asked"
                )
            }
            guard Int64(answer) == service else {
                throw ServerError(.stopped, "the answer is not \(service), so nothing is deleted")
            }
        }
    }
}
