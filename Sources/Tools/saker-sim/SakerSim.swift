internal import ArgumentParser

@main
struct SakerSim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker-sim", abstract: "Simulated input for a desk.",
        subcommands: [DriveCommand.self, FleetCommand.self])
}
