import ArgumentParser
import FenceCommands
import JSON
import Terminal

extension TrackCommand {
    struct Distance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells how far an entity travelled.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var range: TrackRangeOptions
        @OptionGroup var process: ProcessOptions

        func run() async throws {
            let parameters = try process.parameters(for: "track/getdistance")
            let answer = try await range.answer("track/getdistance", parameters)
            range.show(answer, inTable: false) { answer in
                let slow = answer["low_speed_distance"]?.doubleValue
                return [Quantity.distance(answer["distance"]?.doubleValue ?? 0)]
                    + (slow.map { ["\(Quantity.distance($0)) of it \(process.slow)"] } ?? [])
            }
        }
    }

    struct Stays: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists where an entity stayed.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var range: TrackRangeOptions
        @OptionGroup var table: TableOptions

        @OptionGroup var analysis: ProcessingArguments

        @Option(name: .long, help: ArgumentHelp("How long makes a stay.", valueName: "seconds"))
        var least = 600

        @Option(name: .long, help: ArgumentHelp("How far from the stay's place, 1 to 500.", valueName: "metres"))
        var within = 20

        func validate() throws {
            guard (1...86_400).contains(least) else { throw ValidationError("--least is 1 to 86400 seconds") }
            guard (1...500).contains(within) else { throw ValidationError("--within is 1 to 500 metres") }
        }

        func run() async throws {
            let parameters = [("stay_time", String(least)), ("stay_radius", String(within))]
            let answer = try await range.answer(
                "analysis/staypoint", parameters + analysis.parameters(for: "analysis/staypoint"))
            range.show(answer) { AnalysisView.stays($0["stay_points"]?.arrayValue ?? [], width: table.width) }
        }
    }

    struct Trips: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists an entity's trips.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var range: TrackRangeOptions
        @OptionGroup var table: TableOptions
        @OptionGroup var analysis: ProcessingArguments

        func run() async throws {
            let answer = try await range.answer("analysis/trips", analysis.parameters(for: "analysis/trips"))
            range.show(answer) { AnalysisView.trips($0["trips"]?.arrayValue ?? [], width: table.width) }
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
        @OptionGroup var table: TableOptions

        @OptionGroup var analysis: ProcessingArguments

        @Flag(name: .long, help: "Measure the distance along the roads, if the server knows them.")
        var roads = false

        @Option(
            name: .long,
            help: ArgumentHelp(
                "Faster is speeding. Default: the speed limits of the roads, where the server knows them; else nothing is.",
                valueName: "km/h"))
        var speedLimit: Double?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "So much or more is a harsh acceleration. Default: the server's, 1.67.", valueName: "m/s2"))
        var harshAcceleration: Double?

        @Option(
            name: .long,
            help: ArgumentHelp("So much or more is a harsh braking. Default: the server's, 1.67.", valueName: "m/s2"))
        var harshBraking: Double?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "So much or more towards the centre is a harsh curve. Default: the server's, 5.", valueName: "m/s2"))
        var harshCurve: Double?

        func validate() throws {
            let given = [
                ("--speed-limit", speedLimit, "km/h"), ("--harsh-acceleration", harshAcceleration, "m/s²"),
                ("--harsh-braking", harshBraking, "m/s²"), ("--harsh-curve", harshCurve, "m/s²"),
            ]
            for (name, value, unit) in given {
                guard let value, !(value > 0 && value.isFinite) else { continue }
                throw ValidationError("\(name) is a number of \(unit) above 0")
            }
        }

        func run() async throws {
            let thresholds = [
                ("speeding_threshold", speedLimit), ("harsh_acceleration_threshold", harshAcceleration),
                // The published API has brakings below 0.
                ("harsh_breaking_threshold", harshBraking.map { -$0 }), ("harsh_steering_threshold", harshCurve),
            ].compactMap { name, value in value.map { (name, Quantity.decimal($0, 6, trimmed: true)) } }
            let parameters = try analysis.parameters(for: "analysis/drivingbehavior", roads: roads) + thresholds
            let answer = try await range.answer("analysis/drivingbehavior", parameters)
            range.show(answer) { AnalysisView.driving($0, width: table.width) }
        }
    }
}

extension TrackCommand {
    struct Gaps: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells why a track has no points for a while.",
            discussion: """
                Agents tell the gaps with their points: a gap that lasts until now has no reason yet. \
                Times: \(TimeExpression.examples).
                """)

        @OptionGroup var range: TrackRangeOptions
        @OptionGroup var table: TableOptions

        func run() async throws {
            let answer = try await range.answer("track/gettrack", [("gap_content", "1"), ("page_size", "1")])
            range.show(answer) { GapView.lines($0["gaps"]?.arrayValue ?? [], width: table.width) }
        }
    }
}
