import AgentControl
import ArgumentParser
import FenceCommands
import JSON
import NIOCore
import Terminal
import TrackFiles
import TrackModel

extension PointCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends the points of a CSV, GPX, KML or GeoJSON file.",
            discussion: """
                saker reads the whole file before it sends anything. A row that is no point is left out and told; then the
                exit code is 1. CSV and GPX may have any length, GeoJSON 16 MiB.

                CSV: the first line names the columns: time, latitude (lat), longitude (lon), and optionally
                speed (m/s), course (degrees), altitude and accuracy (m), object_name. Others are custom attributes.
                GPX: track points with their time, ele, speed and course. GeoJSON: points with a property time, and lines
                with a list of times (coordTimes). KML: gx:Track, and points with a TimeStamp, or with a TimeSpan, whose begin
                counts. Times may also be Unix seconds or ms. Of points of one time, the server keeps the one that came last.
                """)

        @OptionGroup var agent: AgentOptions

        @Argument(help: "The file.")
        var file: String

        @Option(
            name: .long,
            help: ArgumentHelp(
                "Whose points they are (default: that of the agent); made when the server does not have it.",
                valueName: "name"))
        var entity: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "Pass over so many points at the beginning: they are stored already.", valueName: "count"))
        var skip: Int64 = 0

        @Flag(name: .long, help: "Only read the file, and say what of it would be sent.")
        var dryRun = false

        @OptionGroup(title: "How the file is read") var times: PointFileOptions

        func validate() throws {
            if let entity, let problem = EntityName.problem(withNew: entity) { throw ValidationError(problem) }
            guard skip >= 0 else { throw ValidationError("--skip \(skip): give 0 or more") }
        }

        func run() async throws {
            let rules = try times.rules()
            let (points, leftOut) = try checked(rules)
            guard points > skip else {
                throw CommandFailure(
                    .failed, "\(file.printable): there is no point in it to send\(leftOut.first.printable)")
            }
            var work = ImportWork(
                file: file, command: command, total: points + leftOut.count, leftOut: leftOut.count, skipped: skip,
                isShown: !agent.json)
            guard !dryRun else { return try work.finishTrial() }
            var source = try PointFile(file, times: rules)
            for _ in 0..<skip { _ = try source.next() }
            while let chunk = try Self.chunk(&source) {
                work.took(try await send(chunk, work), of: chunk)
            }
            if agent.json { Output.print(json: work.json.description) }
            try work.finish()
        }

        /// As a person types it, without what is to be skipped.
        private var command: String {
            var words = ["saker", "point", "import", file]
            if let socket = agent.socket { words += ["--socket", socket] }
            if let entity { words += ["--entity", entity] }
            return (words + times.words).map(\.shellWord).joined(separator: " ")
        }

        /// How many points there are, and what is none. Tells the latter.
        private func checked(_ rules: PointFileRules) throws -> (points: Int64, leftOut: PointFile.LeftOut) {
            var source = try PointFile(file, times: rules)
            var count: Int64 = 0
            while try source.next() != nil { count += 1 }
            for line in source.leftOut.lines(file) { Output.complain("saker: \(line)") }
            for note in source.notes { Output.complain(note) }
            return (count, source.leftOut)
        }

        private static func chunk(_ source: inout PointFile) throws -> [PointFile.Point]? {
            var chunk: [PointFile.Point] = []
            while chunk.count < CustomPoint.maximumCount, let point = try source.next() { chunk.append(point) }
            return chunk.isEmpty ? nil : chunk
        }

        private func send(_ chunk: [PointFile.Point], _ work: ImportWork) async throws -> AddPointsReply {
            do {
                let reply = try await agent.reply(
                    .addPoints,
                    ["points": .array(chunk.map(\.value)), "entity": entity.map(JSONValue.string)],
                    timeout: .seconds(10) + AgentControlClient.requestTime)
                return try AgentOptions.decoded(reply)
            } catch let failure as CommandFailure {
                work.clearBar()
                throw CommandFailure(failure.code, "\(failure)\(work.advice(from: chunk.first?.place))")
            }
        }
    }
}

/// The progress of an import.
struct ImportWork {
    /// So many refused points are shown one by one.
    private static let toldRefusals: Int64 = 10
    private static let barWidth = 30

    let file: String
    /// The command of this import, as it is typed, without what is to be skipped.
    private let command: String
    /// Points of the file, with those that the import skips and those that cannot be read.
    let total: Int64
    /// Of them, those that cannot be read.
    private let leftOut: Int64
    /// Points from the beginning of the file that are done: skipped, stored or refused.
    private(set) var done: Int64
    private(set) var stored: Int64 = 0
    /// Times of the points that are stored: of one time the server keeps one.
    private var times = TimeTally()
    private var room = 1 << 20
    private(set) var refused: Int64 = 0
    /// The first reason of each attribute that the points do not show.
    private(set) var ignored: [String: IgnoredValue] = [:]
    private let isShown: Bool

    init(file: String, command: String, total: Int64, leftOut: Int64 = 0, skipped: Int64, isShown: Bool) {
        self.file = file
        self.command = command
        self.total = total
        self.leftOut = leftOut
        self.isShown = isShown
        done = skipped
    }

    /// The server's answer to the next points of the file.
    mutating func took(_ reply: AddPointsReply, of chunk: [PointFile.Point]) {
        done += Int64(chunk.count)
        let unstored = Set(reply.refused.map(\.index))
        let before = times.repeated
        for (index, point) in chunk.enumerated() where !unstored.contains(Int64(index)) {
            if let time = point.value["time"]?.integerValue { times.add(time, room: &room) }
        }
        stored += max(reply.stored - Int64(times.repeated - before), 0)
        for value in reply.ignored ?? [] where ignored[value.key] == nil && ignored.count < 100 {
            ignored[value.key] = value
        }
        for point in reply.refused {
            refused += 1
            guard refused <= Self.toldRefusals else { continue }
            clearBar()
            let place = chunk.indices.contains(Int(point.index)) ? chunk[Int(point.index)].place : "?"
            Output.complain("saker: \(file): \(place): refused: \(point.reason)".printable)
        }
        if isShown { show() }
    }

    private func show() {
        guard hasBar else {
            // One line for a short file, and one for each ten thousand points of a long one.
            guard isDone || done % 10_000 < Int64(CustomPoint.maximumCount) else { return }
            return Output.print("\(progress), \(percent) %")
        }
        Output.styled("\r\(bar.printable)\(isDone ? "\n" : "\u{1B}[K")")
    }

    /// A bar is drawn over and over on a terminal, for a file that takes more than one step.
    private var hasBar: Bool { isShown && Console.isTerminal && total > Int64(CustomPoint.maximumCount) }
    /// All that can be sent was sent.
    private var isDone: Bool { done + leftOut == total }
    /// Refused points are not imported, however far the file has been read.
    private var imported: Int64 { done - refused }
    private var percent: Int64 { imported * 100 / max(total, 1) }
    private var progress: String { "\(Quantity.count(imported)) of \(Quantity.count(total, "point"))" }

    var bar: String {
        let filled = Int(percent) * Self.barWidth / 100
        let empty = Self.barWidth - filled
        return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: empty))] \(progress)"
    }

    /// Clears the bar's line before another message.
    func clearBar() {
        if hasBar, !isDone { Output.styled("\r\u{1B}[K") }
    }

    /// What to do when the next points could not be sent.
    func advice(from place: String?) -> String {
        let rest = place.map { " from \($0) on" } ?? ""
        return ". \(Quantity.count(stored, "point")) stored; the rest of the file\(rest) is still to be sent: "
            + "\(command) --skip \(done)"
    }

    var json: JSONValue {
        [
            "stored": .integer(stored), "replaced": .integer(Int64(times.repeated)), "refused": .integer(refused),
            "left_out": .integer(leftOut),
            "ignored": .array(ignored.keys.sorted().map(JSONValue.string)),
        ]
    }

    /// Shows the result. Throws when points were refused or left out.
    func finish() throws(CommandFailure) {
        if isShown { Output.print(result) }
        for line in AttributeText.ignored(ignored.values.sorted { $0.key < $1.key }) {
            Output.complain("saker: \(line)")
        }
        try complain("are stored")
    }

    private var result: String {
        guard times.isExact else {
            return "The server has taken \(Quantity.count(stored + Int64(times.repeated), "point"))."
                + " Of points of one time it keeps the one that came last."
        }
        let text = "The server has stored \(Quantity.count(stored, "point"))."
        guard times.repeated > 0 else { return text }
        return text + " \(Quantity.count(Int64(times.repeated), "point has", "points have")) the time of another one:"
            + " of one time the server keeps the point that came last."
    }

    /// Shows what an import would do. Throws when points would be left out.
    func finishTrial() throws(CommandFailure) {
        if isShown {
            let sent = Quantity.count(total - leftOut - done, "point")
            Output.print("\(sent) would be sent. Nothing was sent, because of --dry-run.")
        } else {
            Output.print(json: json.description)
        }
        try complain("would be sent")
    }

    private func complain(_ others: String) throws(CommandFailure) {
        let parts = [(refused, "refused"), (leftOut, "left out")].filter { $0.0 > 0 }
            .map { "\(Quantity.count($0.0, "point")) \($0.1)" }
        guard !parts.isEmpty else { return }
        throw CommandFailure(
            .failed, "\(file.printable): \(parts.joined(separator: ", ")); the others \(others)")
    }
}
