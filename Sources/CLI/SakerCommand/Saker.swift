import ArgumentParser
import TrackModel

/// The command line of Saker.
struct Saker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker",
        abstract: "Controls the tracking agent of this vehicle, and reads tracks from the server.",
        discussion: """
            On the vehicle:
              saker status                  is the vehicle tracked, and if not, why not
              sudo saker doctor             checks everything, and says what to do
              saker watch                   shows events as they happen
              saker alarms                  shows the alarms and messages of the last days
              saker fence list              shows the vehicle's own fences
              saker service start           logs in and uploads
              saker gather start            makes track points
              sudo saker enroll -           sets this vehicle up with a line from the server
              sudo saker renew              gets the next certificate of this vehicle, when it is time

            Anywhere:
              saker track latest van_07     where the vehicle is
              saker track history van_07 --from '2h ago'
              saker call track/getlatestpoint

            Exit codes: 0 done, 1 refused or failed (the reason is on standard error),
            2 wrong usage, 3 the agent or the server cannot be reached.
            """,
        version: "saker \(SakerVersion.text)",
        groupedSubcommands: [
            CommandGroup(
                name: "The agent of this vehicle:",
                subcommands: [
                    StatusCommand.self, DoctorCommand.self, WatchCommand.self, ServiceCommand.self, GatherCommand.self,
                    SettingsCommand.self, AttributesCommand.self, CacheCommand.self, PointCommand.self,
                    ReconnectCommand.self,
                    EnrollCommand.self, RenewCommand.self, ImageCommand.self, AlarmsCommand.self, FenceCommand.self,
                ]),
            CommandGroup(name: "The server:", subcommands: [TrackCommand.self, EntityCommand.self, CallCommand.self]),
        ])
}
