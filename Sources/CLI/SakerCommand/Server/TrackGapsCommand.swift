import ArgumentParser
import JSON

extension TrackCommand {
    struct Gaps: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells why a track has no points for a while.",
            discussion: """
                Agents tell the gaps with their points: a gap that lasts until now has no reason yet. \
                Times: \(TimeExpression.examples).
                """)

        @OptionGroup var range: TrackRangeOptions

        func run() async throws {
            var gaps: [JSONValue] = []
            try await range.each("track/gettrack", [("gap_content", "1"), ("page_size", "1")]) {
                gaps += $0["gaps"]?.arrayValue ?? []
            }
            if !range.server.json { for line in GapView.lines(gaps) { Console.print(line) } }
        }
    }
}
