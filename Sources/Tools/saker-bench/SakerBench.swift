import ArgumentParser

/// Measures single rooms and prepares what `scripts/bench` measures whole programs with.
@main struct SakerBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker-bench", abstract: "Measures codec and disk ring, fills a ring for measuring an agent.",
        subcommands: [WireBench.self, CacheBench.self, FillCommand.self])
}

/// One figure on standard output: a name, a number and its unit, tab-separated.
func figure(_ name: String, _ value: Double, _ unit: String) {
    print("\(name)\t\(value)\t\(unit)")
}
