internal import ArgumentParser
internal import TrackModel

@main
struct SakerSim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker-sim", abstract: "Simulated input for a desk.",
        version: "saker-sim \(SakerVersion.text)",
        subcommands: [DriveCommand.self, FleetCommand.self])
}
