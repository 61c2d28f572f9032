import ArgumentParser
import FenceCommands
import JSON
import Terminal

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
            let answer = try await range.asking { _, range, _, ask in
                let rule = RangeRule()
                let parameters = [("gap_content", "1")]
                guard range.upperBound - range.lowerBound > rule.longest else {
                    return try await ask("track/gettrack", range, parameters + [("page_size", "1")])
                }
                var track = JoinedTrack(ask, parameters: parameters, pagePoints: 1, rule: rule)
                try await track.read(range, withPages: false) { _ in }
                return track.summary
            }
            range.show(answer) { GapView.lines($0["gaps"]?.arrayValue ?? [], width: table.width) }
        }
    }
}
