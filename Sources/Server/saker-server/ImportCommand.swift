import ArgumentParser
import Glibc
import ServerRuntime
import Terminal
import TrackModel

/// `saker-server import`
struct ImportTracks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import points from files of exports, of this server or of the published service.",
        discussion: """
            Works while the server runs. A file is a zip file as export/createjob makes it: a text file with one JSON object a \
            line. A point of the same entity and time replaces the one that is there, so an import that was cut short can be \
            run once more. Fences do not judge the points. Values in custom_data are kept when the service has a track column \
            of their name: make the columns first, see saker-server column.

            Example: saker-server import --service 1 117_3001.zip 117_3002.zip
            """)

    @OptionGroup var file: ConfigurationOption
    @Option(help: ArgumentHelp("The number of the service.", valueName: "number"))
    var service: Int64
    @Flag(help: "Read and check the files, and store nothing.")
    var dryRun = false
    @Argument(help: ArgumentHelp("Zip files.", valueName: "files"))
    var files: [String]

    func run() async throws {
        var seconds = timespec()
        clock_gettime(CLOCK_REALTIME, &seconds)
        let work = try await TrackImport(try file.load(), service: service)
        let line = ProgressLine()
        let outcome = try await work.importFiles(
            files, isTrial: dryRun, now: Timestamp(seconds: Int64(seconds.tv_sec))
        ) { progress in
            line.show(
                "\(progress.points) points, \(progress.of > 0 ? progress.bytes * 100 / progress.of : 0) % of the files")
        }
        line.clear()
        for refusal in outcome.refusals { Output.complain("refused: \(refusal)") }
        if outcome.refused > outcome.refusals.count {
            Output.complain("refused: \(outcome.refused - outcome.refusals.count) more lines")
        }
        if !outcome.withoutColumn.isEmpty {
            Output.complain(
                "left out, because the service has no track column of this name: "
                    + outcome.withoutColumn.joined(separator: ", "))
        }
        if outcome.impossibleHeights > 0 {
            Output.complain(
                "\(counted(outcome.impossibleHeights, "height")) left out, because no height can be so; the points stay"
            )
        }
        let verb = dryRun ? "can be imported" : "imported"
        Output.print(
            "\(verb): \(outcome.points) points of \(outcome.entities) entities; refused: \(outcome.refused) lines")
        if outcome.replaced > 0 {
            Output.print(
                "\(counted(outcome.replaced, "point")) more \(outcome.replaced == 1 ? "has" : "have") the entity and the time of"
                    + " another one: of one time the server keeps the point that came last")
        }
        if !outcome.isExact {
            Output.print("there are too many points to count those of one time, of which the server keeps one")
        }
        guard outcome.points > 0 || outcome.refused == 0 else {
            throw ServerError(.file, "no line of the files is a point")
        }
        // A part of the lines is missing: no script must take this for a whole import.
        guard outcome.refused == 0 else {
            let others = dryRun ? "can be imported" : "are imported"
            throw ServerError(
                .file,
                "\(counted(outcome.refused, "line")) of the files \(outcome.refused == 1 ? "was" : "were") refused; the others \(others)"
            )
        }
    }
}
