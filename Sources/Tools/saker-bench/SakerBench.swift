import ArgumentParser

/// Measures single rooms, and prepares data with which `scripts/bench` measures whole programs.
@main struct SakerBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker-bench", abstract: "Measures codec, disk ring, fences and analysis; fills a ring.",
        subcommands: [WireBench.self, CacheBench.self, FillCommand.self, FenceBench.self, AnalysisBench.self])
}

/// Prints one figure: a name, a number and its unit, separated by tabs.
func figure(_ name: String, _ value: Double, _ unit: String) {
    print("\(name)\t\(value)\t\(unit)")
}
