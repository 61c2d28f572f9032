import ArgumentParser
import JSON

extension TrackCommand {
    struct Distance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells how far an entity travelled.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var range: TrackRangeOptions
        @OptionGroup var process: ProcessOptions

        func run() async throws {
            var metres = 0.0
            try await range.each("track/getdistance", process.parameters) {
                metres += $0["distance"]?.doubleValue ?? 0
            }
            if !range.server.json { Console.print(Quantity.distance(metres)) }
        }
    }

    struct Stays: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists where an entity stayed.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var range: TrackRangeOptions

        @Option(name: .long, help: ArgumentHelp("How long makes a stay.", valueName: "seconds"))
        var least = 600

        @Option(name: .long, help: ArgumentHelp("How far from the stay's place, 1 to 500.", valueName: "metres"))
        var within = 20

        func validate() throws {
            guard (1...86_400).contains(least) else { throw ValidationError("--least is 1 to 86400 seconds") }
            guard (1...500).contains(within) else { throw ValidationError("--within is 1 to 500 metres") }
        }

        func run() async throws {
            var stays: [JSONValue] = []
            try await range.each(
                "analysis/staypoint", [("stay_time", String(least)), ("stay_radius", String(within))]
            ) { stays += $0["stay_points"]?.arrayValue ?? [] }
            if !range.server.json { for line in AnalysisView.stays(stays) { Console.print(line) } }
        }
    }

    struct Trips: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists an entity's trips.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var range: TrackRangeOptions

        func run() async throws {
            var trips: [JSONValue] = []
            try await range.each("analysis/trips") { trips += $0["trips"]?.arrayValue ?? [] }
            if !range.server.json { for line in AnalysisView.trips(trips) { Console.print(line) } }
        }
    }

    struct Driving: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells how a vehicle was driven.",
            discussion: """
                Harsh events need points that are at most 3 seconds apart. \
                Times: \(TimeExpression.examples).
                """)

        @OptionGroup var range: TrackRangeOptions

        @Option(name: .long, help: ArgumentHelp("Faster is speeding. Default: nothing is.", valueName: "km/h"))
        var speedLimit: Double?

        func validate() throws {
            if let speedLimit, !(speedLimit > 0 && speedLimit.isFinite) {
                throw ValidationError("--speed-limit is a number of km/h above 0")
            }
        }

        func run() async throws {
            var view = AnalysisView.Driving()
            try await range.each(
                "analysis/drivingbehavior", speedLimit.map { [("speeding_threshold", String($0))] } ?? []
            ) { view.add($0) }
            if !range.server.json { for line in view.lines { Console.print(line) } }
        }
    }
}
